// Elements of the page. Whatever is stored comes in as text, never as markup.

import { SHOWN_CHARACTERS, beginning, inert } from "./inert.js";
import { day, exact, moment, relative } from "./dates.js";

/**
 * Make an element. Properties are attributes, but for `onclick` and the like, which are listeners; children that are nothing are left out.
 * @param {string} tag
 * @param {Record<string, unknown>} properties
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((one) => one !== null && one !== undefined && one !== false && one !== ""));
  return made;
}

/** A button that says what it does; `key` is the letter that does it too. */
export function button(label, onclick, { key, kind = "", hint } = {}) {
  const title = hint ? (key ? `${hint} (${key})` : hint) : key && `Key ${key}`;
  return element("button", { type: "button", class: `button ${kind}`, onclick, title, "aria-keyshortcuts": key }, label);
}

/** A short remark; `hint` explains it. */
export function chip(label, kind = "", hint = "") {
  return element("span", { class: `chip ${kind}`, title: hint }, label);
}

/** A time: relative, the exact one at hand. */
export function timeOf(iso, { before = "", plain = false } = {}) {
  const when = moment(iso);
  if (!when) return element("span", {}, `${before}${inert(iso)}`);
  const shown = plain ? day(when) : relative(when, new Date());
  return element("time", { datetime: when.toISOString(), title: exact(when) }, `${before}${shown}`);
}

/** Stored text, cut where it is long; the rest comes at a press. */
export function storedText(stored, { className = "text", most = SHOWN_CHARACTERS } = {}) {
  const whole = inert(stored);
  const first = beginning(whole, most);
  const shown = element("p", { class: className, dir: "auto" }, first.text + (first.more ? "…" : ""));
  if (!first.more) return shown;
  const all = button(`Show all ${whole.length.toLocaleString()} characters`, () => {
    shown.textContent = whole;
    all.remove();
  }, { kind: "link" });
  return element("div", {}, shown, all);
}

/** A name or other short stored text in a line, walled off from the direction of what stands around it. */
export function storedName(stored) {
  return element("bdi", {}, beginning(inert(stored).replace(/\n/g, " "), 120).text);
}
