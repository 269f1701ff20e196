// What all scripts of the page use. Stored text goes into the page as text alone (`el` and `textContent`), never as HTML.

/** @typedef {{undo?: string | (() => void), tone?: string, keep?: boolean}} ToastOptions */

const listeners = new Map();

/**
 * Call `then` at each event of a type: "change" when memories changed, or another type of `/events`.
 * @param {string} type
 * @param {(data: any) => void} then
 * @returns {() => void} ends it
 */
export function on(type, then) {
  const all = listeners.get(type) ?? new Set();
  listeners.set(type, all.add(then));
  return () => all.delete(then);
}

/** Tell who listens. @param {string} type @param {any} data */
export function tell(type, data) {
  for (const then of listeners.get(type) ?? []) then(data);
}

/**
 * Make an element. Children are elements or text; an attribute that is false, null or undefined is left out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] names beginning with "on" are listeners
 * @param {...(Node | string | number | null | undefined)} children
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on") && typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((one) => one !== null && one !== undefined).map((one) => (one instanceof Node ? one : String(one))));
  return made;
}

/** Parameters of this address that go along to other views. */
const KEPT = ["namespace", "reveal"];

/** Return an address of the page. @param {string} path @param {Record<string, any>} [parameters] */
export function url(path, parameters = {}) {
  const here = new URLSearchParams(location.search);
  const all = new URLSearchParams();
  for (const name of KEPT) if (here.get(name)) all.set(name, here.get(name));
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === "") all.delete(name);
    else all.set(name, value);
  }
  const asked = all.toString();
  return asked ? `${path}?${asked}` : path;
}

/**
 * Ask for JSON. Rejects with an Error whose message can be shown.
 * @param {string} path
 * @param {{method?: string, body?: any, signal?: AbortSignal}} [options]
 */
export async function fetchJson(path, { method = "GET", body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, credentials: "same-origin", body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The page's server does not answer. Run `hybrid-memory-mcp inspect` again.");
  }
  const given = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(given?.error?.message ?? given?.error ?? `That did not work (${answer.status}).`);
  return given;
}

/**
 * Show a message. `undo` is the id that an action answered, or a function; `u` presses it.
 * @param {string} text
 * @param {ToastOptions} [options]
 */
export function toast(text, { undo, tone, keep = false } = {}) {
  const shown = el("div", { class: `toast${tone ? ` tone-${tone}` : ""}`, role: tone === "bad" ? "alert" : "status" }, el("span", {}, text));
  const away = () => shown.remove();
  if (undo) {
    const press = async () => {
      away();
      try {
        if (typeof undo === "function") await undo();
        else toast((await fetchJson(url("/actions/undo"), { method: "POST", body: { undo } })).done ?? "Undone.");
        tell("change", {});
      } catch (error) {
        toast(error.message, { tone: "bad" });
      }
    };
    shown.append(el("button", { type: "button", "data-undo": true, onclick: press }, "Undo"));
  }
  shown.append(el("button", { type: "button", "aria-label": "Close this message", onclick: away }, "×"));
  document.getElementById("toasts").append(shown);
  if (!keep) setTimeout(() => { if (!shown.matches(":hover, :focus-within")) away(); else shown.addEventListener("mouseleave", away); }, undo ? 12000 : 6000);
  return shown;
}

/** Tell people who hear the page. @param {string} text */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** The item that the keyboard is on, if any. @returns {HTMLElement | null} */
export function item() {
  return document.activeElement?.closest("[data-item]") ?? null;
}

/** The item that a letter acts on: the one that the keyboard is on, else the one that the page is about. @returns {HTMLElement | null} */
export function meant() {
  return item() ?? document.querySelector("[data-item][data-own]");
}

const UNITS = [[90 * 60, 60, "minute"], [22 * 3600, 3600, "hour"], [14 * 86400, 86400, "day"], [60 * 86400, 7 * 86400, "week"], [2 * 31557600, 2630016, "month"]];

/** How long ago a moment was, in the words of `hybrid_memory_mcp/words/times_and_numbers.py`. @param {string} iso @param {number} [now] */
export function relative(iso, now = Date.now()) {
  const seconds = (now - Date.parse(iso)) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return "just now";
  const [, unit, name] = UNITS.find(([below]) => size < below) ?? [0, 31557600, "year"];
  const many = Math.max(Math.round(size / unit), 1);
  const told = `${many.toLocaleString("en")} ${name}${many === 1 ? "" : "s"}`;
  return seconds < 0 ? `in ${told}` : `${told} ago`;
}

/**
 * Put the newest state of an element with `id` in its place, from the address that is shown, as memories that move.
 * @param {HTMLElement} live
 */
export async function refresh(live) {
  const answer = await fetch(location.href, { headers: { "HX-Request": "true", "HX-Request-Type": "partial" }, credentials: "same-origin" });
  if (!answer.ok) return;
  const text = await answer.text();
  const swap = () => window.htmx.swap({ text, target: live, select: `#${CSS.escape(live.id)}`, swap: "outerMorph", sourceElement: live });
  if (document.startViewTransition && live.dataset.live === "moving" && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    name(live);
    const moved = document.startViewTransition(async () => {
      await swap();
      const there = document.getElementById(live.id);
      if (there) name(there);
    });
    moved.ready.catch(() => {}); // a browser that skips the movement (the tab is hidden, the next one began) shows the new state all the same
    await moved.finished.catch(() => {});
    unname(document.getElementById(live.id));
  } else {
    await swap();
  }
  tell("refreshed", { id: live.id });
}

/** Let the browser know which element is which memory, so that it moves. */
function name(root) {
  for (const one of root.querySelectorAll("[data-moves]")) {
    one.style.viewTransitionName = `m-${one.dataset.moves}`;
    one.style.viewTransitionClass = "slip";
  }
}

/** Take the names off again. @param {HTMLElement | null} root */
function unname(root) {
  for (const one of root?.querySelectorAll("[data-moves]") ?? []) one.style.viewTransitionName = "";
}
