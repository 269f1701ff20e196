// The handle of the timeline: what was believed, or true, at the moment that it is pulled to, shown while it moves.
import { on, say } from "./core.js";

const STEPS = 10000;
const REPLAY = { steps: 72, pause: 160 };
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

let asking = null; // the request that is under way
let replaying = 0;

const form = () => document.querySelector("[data-scrub]");
const handle = () => document.getElementById("scrub");

/** Return the moment of a place of the handle. @param {number} value */
function momentAt(value) {
  const { from, to } = form().dataset;
  const begin = Date.parse(from);
  return new Date(begin + (Date.parse(to) - begin) * (value / STEPS));
}

/** Whether a moment is now, or later: then nothing is asked but what is so. @param {Date} moment */
const isNow = (moment) => moment.getTime() >= Date.parse(form().dataset.now) - 1000;

/** @param {Date} moment */
function told(moment) {
  const short = Date.parse(form().dataset.to) - Date.parse(form().dataset.from) < 4 * 86400e3;
  const day = `${moment.getDate()} ${MONTHS[moment.getMonth()]} ${moment.getFullYear()}`;
  return short ? `${day}, ${String(moment.getHours()).padStart(2, "0")}:${String(moment.getMinutes()).padStart(2, "0")}` : day;
}

/** Return which of the two times the handle is about. */
const which = () => form().querySelector("[data-which]:checked")?.value ?? "as_of";

/** Return this address with another moment; none for now. @param {Date | null} moment */
function addressAt(moment) {
  const address = new URL(location.href);
  for (const name of ["as_of", "true_at", "which", "page"]) address.searchParams.delete(name);
  if (moment) address.searchParams.set(which(), moment.toISOString());
  return address;
}

/** Draw the line of a moment over the picture and the rows, before the answer is here. @param {Date | null} moment */
function draw(moment) {
  const group = document.querySelector("[data-moment]");
  const at = moment ? `${handle().value / (STEPS / 100)}%` : "-5%";
  if (group) {
    if (moment) group.removeAttribute("display");
    else group.setAttribute("display", "none");
    group.querySelector(".later")?.setAttribute("x", at);
    for (const one of ["x1", "x2"]) group.querySelector("line")?.setAttribute(one, at);
  }
  for (const line of document.querySelectorAll(".span-moment")) for (const one of ["x1", "x2"]) line.setAttribute(one, at);
  handle().setAttribute("aria-valuetext", moment ? told(moment) : "now");
  const written = form().querySelector("[data-moment-text]");
  if (written && written !== document.activeElement) written.value = moment ? told(moment) : "";
}

/**
 * Fetch an address and put parts of it in the place of those that are here. A later call takes over.
 * @param {URL} address
 * @param {string[]} parts ids
 */
async function show(address, parts) {
  asking?.abort();
  const mine = (asking = new AbortController());
  const answer = await fetch(address, {
    signal: mine.signal,
    credentials: "same-origin",
    headers: { "HX-Request": "true", "HX-Request-Type": "partial" },
  });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine.signal.aborted) return false;
  if (!answer.ok || parts.some((id) => !page.getElementById(id))) {
    location.assign(address);
    return false;
  }
  for (const id of parts) document.getElementById(id)?.replaceWith(document.adoptNode(page.getElementById(id)));
  window.htmx?.process?.(document.getElementById(parts[0]));
  return true;
}

/** Show what was so at the place of the handle; `heard` tells it to who hears the page. @param {{heard?: boolean}} [options] */
async function follow({ heard = true } = {}) {
  const moment = momentAt(Number(handle().value));
  const at = isNow(moment) ? null : moment;
  draw(at);
  const address = addressAt(at);
  history.replaceState(history.state, "", address);
  try {
    if (!(await show(address, ["results"])) || !heard) return;
    const total = Number(document.getElementById("results").dataset.total).toLocaleString("en");
    say(at ? `${told(at)}: ${total} ${which() === "as_of" ? "believed" : "true"} then` : `now: ${total}`);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

let soon = 0;
/** Draw the line at once, and follow when the handle rests. */
function followSoon() {
  const moment = momentAt(Number(handle().value));
  draw(isNow(moment) ? null : moment);
  clearTimeout(soon);
  soon = setTimeout(follow, 60);
}

/** Go through the whole picture from left to right, as it came about. */
function replay() {
  if (replaying) return stopReplay();
  const button = form().querySelector("[data-replay]");
  const end = Math.round(((Date.parse(form().dataset.now) - Date.parse(form().dataset.from)) / (Date.parse(form().dataset.to) - Date.parse(form().dataset.from))) * STEPS);
  const last = Math.min(Math.max(end, 0), STEPS);
  let step = 0;
  button.textContent = "Stop";
  const next = async () => {
    if (!handle() || ++step > REPLAY.steps) return stopReplay();
    handle().value = String(Math.round((last * step) / REPLAY.steps));
    const begun = performance.now();
    await follow({ heard: step === REPLAY.steps });
    if (replaying) replaying = setTimeout(next, Math.max(REPLAY.pause - (performance.now() - begun), 0));
  };
  replaying = setTimeout(next, 0);
}

/** End the replay, wherever it is. */
function stopReplay() {
  clearTimeout(replaying);
  replaying = 0;
  const button = form()?.querySelector("[data-replay]");
  if (button) button.textContent = "Replay";
}

/** Step over the bars with the arrow keys: a day, a week, a month. @param {KeyboardEvent} event */
function step(event) {
  const directions = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -7, PageUp: 7 };
  const direction = directions[event.key];
  if (!direction || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const edges = [...form().dataset.bars.split(" "), form().dataset.to].map((one) => Date.parse(one));
  const here = momentAt(Number(handle().value)).getTime();
  const near = ((edges.at(-1) - edges[0]) / STEPS) * 1.5; // as exact as a place of the handle is
  const at = edges.findIndex((one) => one > here + near);
  const current = at < 0 ? edges.length - 1 : at - 1;
  const exact = Math.abs(edges[current] - here) <= near;
  const wanted = Math.min(Math.max(current + direction + (direction < 0 && !exact ? 1 : 0), 0), edges.length - 1);
  handle().value = String(Math.round(((edges[wanted] - edges[0]) / (edges.at(-1) - edges[0])) * STEPS));
  followSoon();
}

document.addEventListener("input", (event) => { if (event.target === handle()) { stopReplay(); followSoon(); } });
document.addEventListener("change", (event) => { if (event.target.matches?.("[data-which]")) follow(); });
document.addEventListener("keydown", (event) => { if (event.target === handle()) step(event); });
document.addEventListener("click", async (event) => {
  if (event.target.closest?.("[data-replay]")) return replay();
  const link = event.target.closest?.("#time a[data-swap], #results .facet, #results .pager a");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  stopReplay();
  const address = new URL(link.href?.baseVal ?? link.href, location.href);
  const keep = link.dataset.key || link.textContent.trim();
  history.pushState({}, "", address);
  try {
    if (!(await show(address, ["time"]))) return;
    prepare();
    const again = [...document.querySelectorAll("#time a")].find((one) => (one.dataset.key || one.textContent.trim()) === keep);
    again?.focus({ preventScroll: true });
    if (link.closest(".pager")) document.getElementById("results").scrollIntoView();
    say(`${Number(document.getElementById("results").dataset.total).toLocaleString("en")} memories`);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
});
document.addEventListener("submit", (event) => {
  if (event.target !== form()) return;
  event.preventDefault();
  const address = addressAt(null);
  const written = form().querySelector("[data-moment-text]").value.trim();
  if (written) address.searchParams.set(which(), written);
  location.assign(address);
});
addEventListener("popstate", () => show(new URL(location.href), ["time"]).then(prepare));

/** Show what works with this script only. */
function prepare() {
  form()?.querySelector("[data-replay]")?.removeAttribute("hidden");
}
prepare();
on("refreshed", prepare);
