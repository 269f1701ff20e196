// The map: a picture of all memories by meaning, moved by mouse, fingers and keys. What can be done with a memory, the page's actions do.

import { select } from "./actions.js";
import { el, fetchJson, on, relative, say, toast, url } from "./core.js";
import { MapView, Paint, clamp, hex } from "./map_draw.js";
import { NEVER, nearest, read, within } from "./map_points.js";

const POLL_MS = 700;
const REACH = 14; // pixels from a point at which it is met
const FEW = 500; // memories on which something can be done at a time
const PLAY_MS = 9000; // for the whole time
const KEPT_TEXTS = 300;

const TIERS = { sensory: ["just heard", "sensory"], short_term: ["in mind", "short"], long_term: ["kept", "long"], faded: ["faded", "faded"], working: ["at work", "working"], episodic: ["episode", "time"] };
const TRUSTS = { untrusted: ["not trusted", "warn"], agent: ["an assistant's words", "short"], user: ["your words", "long"], confirmed: ["confirmed", "time"] };
const KINDS = { observation: ["memories", "long"], insight: ["insights", "working"], summary: ["summaries", "short"], task: ["tasks", "sensory"] };

const root = document.getElementById("map");
const front = root.querySelector(".map-front");
const back = root.querySelector(".map-back");
const card = root.querySelector(".map-card");
const legend = root.querySelector(".map-legend");
const slider = root.querySelector(".map-slider");
const told = root.querySelector(".map-when");
const status = root.querySelector(".map-status");
const play = root.querySelector("[data-play]");
const colours = root.querySelector("[name=colour]");
const search = root.querySelector("[name=q]");
const texts = new Map();

/** @type {MapView | null} */
let view = null;
let data = null;
let points = null;
let until = NEVER;
let matches = null;
let hiddenValues = new Set();
let asked = 0;
let pinnedCard = false;
let order = null;
let playing = 0;
const paint = new Paint(root);
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
const month = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" });

// --- what is shown ---

/** Ask for the map and draw it; as long as it is being made, ask again. */
async function load() {
  const found = await fetchJson(url("/map.json", { wait: 1, limit: 1 }));
  if (!found.ready) {
    status.textContent = "The map is being drawn for the first time. It takes a few seconds.";
    status.hidden = false;
    setTimeout(() => load().catch(failed), POLL_MS);
    return;
  }
  if (data && found.version === data.version) return;
  const answer = await fetch(url(found.points), { credentials: "same-origin" });
  if (!answer.ok) throw new Error("The points of the map could not be loaded.");
  const bytes = await answer.arrayBuffer();
  const former = view;
  data = found;
  points = read(bytes);
  order = null;
  matches = null;
  texts.clear();
  status.hidden = true;
  root.dataset.ready = "";
  view = new MapView(front, back, points, data.regions, data.places);
  if (former) {
    Object.assign(view, { centre: former.centre, zoom: former.zoom });
    select([]);
    meet(-1);
  }
  slider.min = String(points.first);
  slider.max = String(points.last);
  if (until === NEVER) slider.value = slider.max;
  drawHistory();
  recolour();
  refilter();
  view.resize();
  repaint();
  if (search.value.trim()) seek();
  if (!found.current) setTimeout(() => load().catch(failed), POLL_MS);
}

/** Tell what went wrong. @param {Error} error */
function failed(error) {
  status.textContent = error.message;
  status.hidden = false;
}

/** Draw in the colours of the theme. */
function repaint() {
  if (!view) return;
  recolour();
  view.theme(paint);
}

/** Gives each point the number of its colour, and the palette its colours. */
function recolour() {
  const by = colours.value;
  const groups = groupsOf(by);
  const values = valuesOf(by);
  view.colour.set(values);
  groups.forEach((group, at) => {
    view.palette[at] = hex(paint.rgb(group.colour));
  });
  if (by === "topic") view.palette[255] = view.palette[254] = hex(paint.rgb("var(--faded-mark)"));
  drawLegend(by, groups, values);
}

/** Return the group of each point. @param {string} by */
function valuesOf(by) {
  if (by === "topic") return points.region;
  if (by === "age") {
    const span = Math.max(points.last - points.first, 1);
    return Uint8Array.from(points.came, (one) => Math.min(Math.floor(((one - points.first) / span) * 12), 11));
  }
  return points[by];
}

/** Return the names and colours of the groups. @param {string} by */
function groupsOf(by) {
  if (by === "topic") {
    // The colour goes round with the direction in which a region lies, so that neighbours have colours that are near.
    const turned = data.regions.map((one, at) => [Math.atan2(one.y, one.x), at]).sort((a, b) => a[0] - b[0]);
    const place = new Map(turned.map(([, at], rank) => [at, rank]));
    return data.regions.map((one, at) => ({
      name: one.words.join(" · ") || `region ${at + 1}`,
      colour: `oklch(var(--map-light) var(--map-chroma) ${Math.round((360 * place.get(at)) / data.regions.length + 25)})`,
    }));
  }
  if (by === "age") return Array.from({ length: 12 }, (_, at) => ({ name: "", colour: `color-mix(in oklch shorter hue, var(--map-new) ${Math.round((at / 11) * 100)}%, var(--map-old))` }));
  const words = { tier: TIERS, trust: TRUSTS, kind: KINDS }[by];
  return data[`${by}s`].map((one) => ({ name: words[one]?.[0] ?? one, colour: `var(--${words[one]?.[1] ?? "faded"}${words[one]?.[1] === "warn" || words[one]?.[1] === "time" ? "" : "-mark"})` }));
}

/** List the groups that hold something; a press hides one. */
function drawLegend(by, groups, values) {
  const counts = new Uint32Array(256);
  for (let at = 0; at < points.count; at++) if (points.ended[at] === NEVER) counts[values[at]] += 1;
  legend.replaceChildren();
  if (by === "age") {
    const ramp = el("li", { class: "map-ramp" }, el("span", {}, month.format(points.first * 1000)), el("span", { class: "map-ramp-bar" }), el("span", {}, month.format(points.last * 1000)));
    legend.append(ramp);
    return;
  }
  groups.forEach((group, at) => {
    if (!counts[at]) return;
    const swatch = el("span", { class: "map-swatch" });
    swatch.style.setProperty("background", paint.css(group.colour));
    const press = () => {
      if (hiddenValues.has(at)) hiddenValues.delete(at);
      else hiddenValues.add(at);
      button.setAttribute("aria-pressed", String(!hiddenValues.has(at)));
      refilter();
    };
    const button = el("button", { type: "button", class: "map-group", "aria-pressed": String(!hiddenValues.has(at)), onclick: press }, swatch, el("span", { class: "map-group-name", dir: "auto" }, group.name), el("span", { class: "how-many" }, counts[at].toLocaleString("en")));
    if (by === "topic") button.addEventListener("dblclick", () => view.show(data.regions[at].x, -data.regions[at].y, 4));
    legend.append(el("li", {}, button));
  });
}

/** Decides which points are shown: those that stood at the time of the slider, of the groups that are on, brought out where they match. */
function refilter() {
  const values = valuesOf(colours.value);
  const fresh = until === NEVER ? NEVER : until - (points.last - points.first) * 0.025;
  let count = 0;
  for (let at = 0; at < points.count; at++) {
    const came = points.came[at];
    const stood = until === NEVER ? points.ended[at] === NEVER || points.ended[at] * 1000 > Date.now() : came <= until && points.ended[at] > until;
    let state = stood && !hiddenValues.has(values[at]) ? 1 : 0;
    if (state) count += 1;
    if (state && matches) state = matches.has(at) ? 3 : 2;
    else if (state && came > fresh && playing) state = 3;
    view.shown[at] = state;
  }
  order = null;
  view.bringOut(Boolean(matches) || Boolean(playing), !matches);
  const when = until === NEVER ? "now" : day.format(until * 1000);
  told.replaceChildren(el("strong", {}, when), el("span", {}, `${count.toLocaleString("en")} ${count === 1 ? "memory" : "memories"}${until === NEVER ? "" : " then"}`));
  slider.setAttribute("aria-valuetext", `${when}: ${count} memories`);
}

/** Draws how many memories came when, behind the slider. */
function drawHistory() {
  const parts = 80;
  const counts = new Uint32Array(parts);
  const span = Math.max(points.last - points.first, 1);
  for (let at = 0; at < points.count; at++) counts[Math.min(Math.floor(((points.came[at] - points.first) / span) * parts), parts - 1)] += 1;
  const most = Math.max(...counts, 1);
  const path = Array.from(counts, (one, at) => (one ? `M${at + 0.15} 20V${(20 - Math.max(Math.sqrt(one / most) * 19, 1)).toFixed(2)}h0.7V20z` : "")).join("");
  root.querySelector(".map-history path").setAttribute("d", path);
}

// --- a question ---

let asking = null;
async function seek() {
  asking?.abort();
  const query = search.value.trim();
  if (!query) {
    matches = null;
    refilter();
    status.hidden = true;
    return;
  }
  asking = new AbortController();
  try {
    const found = await fetchJson(url("/map.json", { q: query, limit: 1 }), { signal: asking.signal });
    if (found.version !== data.version) {
      await load();
      return;
    }
    matches = new Set(found.matches);
    refilter();
    status.textContent = matches.size ? (matches.size < found.most ? `${matches.size} ${matches.size === 1 ? "memory matches" : "memories match"}` : `The ${matches.size} best matches`) : "Nothing on the map matches that.";
    status.hidden = false;
    say(status.textContent);
  } catch (error) {
    if (error.name !== "AbortError") failed(error);
  }
}

// --- one memory ---

/** Return the memory of a point; null where it cannot be had. @param {number} at */
async function textOf(at) {
  const id = points.id(at);
  if (!texts.has(id)) {
    if (texts.size > KEPT_TEXTS) texts.clear();
    texts.set(id, fetchJson(url("/map.json", { ids: id })).then((found) => found.memories[0] ?? null).catch(() => { texts.delete(id); return null; })); // asked again the next time
  }
  return texts.get(id);
}

/** Shows the card of a point. @param {number} at @param {boolean} stay with what can be done, until it is closed */
async function meet(at, stay = false) {
  const mine = ++asked;
  view.marked = at;
  view.draw();
  if (at < 0) {
    card.hidden = true;
    pinnedCard = false;
    return;
  }
  const memory = await textOf(at);
  if (mine !== asked) return;
  pinnedCard = stay;
  card.replaceChildren(...(memory ? cardOf(memory, at, stay) : [el("p", {}, "This memory is not there any more.")]));
  card.hidden = false;
  placeCard(at);
  if (stay) say(`${memory?.content ?? ""}`);
}

/** Make what the card of a point shows. */
function cardOf(memory, at, stay) {
  const region = data.regions[points.region[at]];
  const tier = TIERS[memory.tier] ?? [memory.tier, "plain"];
  const parts = [
    el("p", { class: "map-card-words words", dir: "auto" }, memory.content.length > 320 ? `${memory.content.slice(0, 320)}…` : memory.content),
    el("p", { class: "map-card-facts" },
      memory.state === "current" ? el("span", { class: `chip tier tone-${tier[1]}` }, tier[0]) : el("span", { class: "chip tone-time" }, memory.state === "superseded" ? "replaced" : "over"),
      el("time", { datetime: memory.created_at, title: day.format(new Date(memory.created_at)) }, `learned ${relative(memory.created_at)}`),
      region?.words.length ? el("span", { dir: "auto" }, region.words[0]) : null),
  ];
  if (!stay) return parts;
  const ids = memory.id;
  const act = (verb, label, tone = "") => el("button", { type: "button", class: `button small ${tone}`, "data-action": verb, "data-ids": ids }, label);
  parts.push(el("p", { class: "map-card-acts" },
    el("a", { class: "button small main", href: url(`/memories/${memory.id}`), "data-open": true }, "Open"),
    act(memory.pinned ? "unpin" : "pin", memory.pinned ? "Unpin" : "Pin"), act("forget", "Forget", "bad"),
    el("button", { type: "button", class: "button small quiet", onclick: () => { choose([at]); } }, view.selected.has(at) ? "Selected" : "Select")));
  return parts;
}

/** Put the card beside its point, inside the map. @param {number} at */
function placeCard(at) {
  const [x, y] = view.toPage(points.x[at], points.y[at]);
  const wide = card.offsetWidth;
  const high = card.offsetHeight;
  const left = x + wide + 24 > view.width ? x - wide - 16 : x + 16;
  card.style.setProperty("left", `${Math.max(Math.min(left, view.width - wide - 8), 8)}px`);
  card.style.setProperty("top", `${Math.max(Math.min(y - high / 2, view.height - high - 8), 8)}px`);
}

// --- several ---

/** Select points; those that were selected no longer are. @param {number[]} places @param {boolean} [replace] */
function choose(places, replace = false) {
  if (replace) view.selected = new Set(places);
  else for (const at of places) view.selected.has(at) ? view.selected.delete(at) : view.selected.add(at);
  view.draw();
  showSelection();
}

/** Offer what can be done to all that is selected. */
function showSelection() {
  const many = view.selected.size;
  if (many > FEW) {
    toast(`There are ${many.toLocaleString("en")} memories; draw around at most ${FEW} to do something with them.`);
    choose([], true);
    return;
  }
  front.dataset.selected = String(many);
  select([...view.selected].map((at) => points.id(at)));
  if (many) say(`${many} selected`);
}

// --- mouse and fingers ---

const fingers = new Map();
let dragged = null;
let lassoing = false;

front.addEventListener("pointerdown", (event) => {
  if (!view) return;
  front.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  if (fingers.size === 1 && (event.shiftKey || lassoing)) {
    view.lasso = [view.toMap(event.offsetX, event.offsetY)];
  } else {
    dragged = { x: event.offsetX, y: event.offsetY, far: 0 };
  }
});

front.addEventListener("pointermove", (event) => {
  if (!view) return;
  const before = fingers.get(event.pointerId);
  const here = [event.offsetX, event.offsetY];
  if (!before) {
    if (event.pointerType === "mouse" && !pinnedCard) hover(...here);
    return;
  }
  if (view.lasso) {
    view.lasso.push(view.toMap(...here));
    view.draw();
  } else if (fingers.size === 2) {
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const apart = (a, b) => Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 1);
    view.zoomAt(apart(here, other) / apart(before, other), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
    view.pan((here[0] - before[0]) / 2, (here[1] - before[1]) / 2);
  } else if (dragged) {
    dragged.far += Math.abs(here[0] - before[0]) + Math.abs(here[1] - before[1]);
    if (dragged.far > 4) {
      front.classList.add("is-dragged");
      if (!card.hidden) meet(-1);
      view.pan(here[0] - before[0], here[1] - before[1]);
    }
  }
  fingers.set(event.pointerId, here);
});

function lifted(event) {
  if (!view || !fingers.delete(event.pointerId)) return;
  front.classList.remove("is-dragged");
  if (view.lasso) {
    const polygon = view.lasso;
    view.lasso = null;
    if (polygon.length > 3) choose(within(points, view.shown, polygon), true);
    view.draw();
    if (lassoing) switchLasso(false);
  } else if (dragged && dragged.far <= 4 && event.type === "pointerup") {
    const [x, y] = view.toMap(event.offsetX, event.offsetY);
    const at = nearest(points, view.shown, x, y, REACH / view.scale, view.stretch);
    if (event.ctrlKey || event.metaKey) choose(at < 0 ? [] : [at]);
    else meet(at, at >= 0);
  }
  if (!fingers.size) dragged = null;
}
front.addEventListener("pointerup", lifted);
front.addEventListener("pointercancel", lifted);
front.addEventListener("pointerleave", () => { if (view && !pinnedCard && !fingers.size && document.activeElement !== front) meet(-1); });

let hovered = 0;
function hover(left, top) {
  cancelAnimationFrame(hovered);
  hovered = requestAnimationFrame(() => {
    const [x, y] = view.toMap(left, top);
    const at = nearest(points, view.shown, x, y, REACH / view.scale, view.stretch);
    front.classList.toggle("is-over", at >= 0);
    if (at !== view.marked) meet(at);
  });
}

// The wheel turns in jerks; the map follows smoothly.
let pull = null;
function follow() {
  const part = calm.matches || Math.abs(pull.by) < 0.004 ? pull.by : pull.by * 0.3;
  pull.by -= part;
  view.zoomAt(Math.exp(part), pull.left, pull.top);
  if (!card.hidden && view.marked >= 0) placeCard(view.marked);
  if (pull.by) requestAnimationFrame(follow);
  else pull = null;
}
const calm = matchMedia("(prefers-reduced-motion: reduce)");
front.addEventListener("wheel", (event) => {
  if (!view) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  const by = -clamp(event.deltaY * lines, -160, 160) * (event.ctrlKey ? 0.01 : 0.0022);
  const begins = !pull;
  pull = { by: (pull?.by ?? 0) + by, left: event.offsetX, top: event.offsetY };
  if (begins) follow();
}, { passive: false });

front.addEventListener("dblclick", (event) => view?.zoomAt(2, event.offsetX, event.offsetY));

// --- keys ---

/** The memories that are shown, so that one is beside the next: region by region, in strips from side to side. */
function walk() {
  order ??= Array.from({ length: points.count }, (_, at) => at).filter((at) => view.shown[at] && (!matches || view.shown[at] === 3)).sort((a, b) => points.region[a] - points.region[b] || strip(a) - strip(b) || (strip(a) % 2 ? points.x[b] - points.x[a] : points.x[a] - points.x[b]));
  return order;
}
const strip = (at) => Math.floor((points.y[at] + 1.2) * 30);

function step(by) {
  const all = walk();
  if (!all.length) return;
  const here = all.indexOf(view.marked);
  const at = all[here < 0 ? 0 : (here + by + all.length) % all.length];
  const [x, y] = view.toPage(points.x[at], points.y[at]);
  if (x < 40 || y < 40 || x > view.width - 40 || y > view.height - 40) view.show(points.x[at], points.y[at]);
  meet(at, true);
}

const KEYS = {
  ArrowLeft: () => view.pan(60, 0), ArrowRight: () => view.pan(-60, 0), ArrowUp: () => view.pan(0, 60), ArrowDown: () => view.pan(0, -60),
  "+": () => view.zoomAt(1.35), "=": () => view.zoomAt(1.35), "-": () => view.zoomAt(1 / 1.35), 0: () => view.fit(),
  j: () => step(1), k: () => step(-1),
  x: () => { if (view.marked >= 0) choose([view.marked]); },
  Enter: () => { if (view.marked >= 0) location.assign(url(`/memories/${points.id(view.marked)}`)); },
  Escape: () => { if (view.marked >= 0) meet(-1); else if (view.selected.size) choose([], true); else return false; },
};
front.addEventListener("keydown", (event) => {
  if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
  const does = KEYS[event.key];
  if (!does || does() === false) return;
  event.preventDefault();
  event.stopPropagation();
});

// --- what stands around the map ---

function switchLasso(wanted = !lassoing) {
  lassoing = wanted;
  const button = root.querySelector("[data-lasso]");
  button.setAttribute("aria-pressed", String(lassoing));
  front.classList.toggle("is-lasso", lassoing);
}

function stop() {
  cancelAnimationFrame(playing);
  playing = 0;
  play.setAttribute("aria-label", "Play: how the memory grew");
  play.dataset.play = "";
}

function start() {
  const span = Math.max(points.last - points.first, 1);
  const from = until === NEVER || until >= points.last ? points.first : until;
  const began = performance.now();
  play.dataset.play = "on";
  play.setAttribute("aria-label", "Stop");
  meet(-1);
  const next = (now) => {
    until = from + ((now - began) / PLAY_MS) * span;
    if (until >= points.last) {
      until = NEVER;
      slider.value = slider.max;
      stop();
      refilter();
      return;
    }
    slider.value = String(until);
    refilter(); // first, so that each frame draws what the one before has chosen
    playing = requestAnimationFrame(next);
  };
  playing = requestAnimationFrame(next);
}

play.addEventListener("click", () => { if (!view) return; if (playing) { stop(); refilter(); } else start(); });
slider.addEventListener("input", () => {
  if (!view) return;
  if (playing) stop();
  until = Number(slider.value) >= points.last ? NEVER : Number(slider.value);
  refilter();
});
colours.addEventListener("change", () => { if (!view) return; hiddenValues = new Set(); recolour(); refilter(); });
let typed = 0;
search.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(() => view && seek(), 180); });
search.form.addEventListener("submit", (event) => { event.preventDefault(); if (view) seek(); });
root.querySelector("[data-lasso]").addEventListener("click", () => view && switchLasso());
root.querySelector("[data-fit]").addEventListener("click", () => view?.fit());
root.querySelector("[data-in]").addEventListener("click", () => view?.zoomAt(1.5));
root.querySelector("[data-out]").addEventListener("click", () => view?.zoomAt(1 / 1.5));
for (const one of document.querySelectorAll("[data-region]")) one.addEventListener("click", (event) => {
  const region = data?.regions[Number(one.dataset.region)];
  if (!region || event.ctrlKey || event.metaKey || event.shiftKey) return;
  view.show(region.x, -region.y, 3);
});

new ResizeObserver(() => view?.resize()).observe(front);
new MutationObserver(repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
let changed = 0;
on("change", () => { clearTimeout(changed); changed = setTimeout(() => { if (!playing) load().catch(failed); }, 600); });

load().catch((error) => { failed(error); toast(error.message, { tone: "bad" }); });
