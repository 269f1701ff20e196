// Everything by keyboard: letters, the list of them under `?`, and going over the items of a page.
import { el, item, meant, say } from "./core.js";

const WAIT = 1200; // milliseconds for the letter behind `g`
let going = 0;

/** Whether single letters act; kept where a value is given. @param {boolean} [on] */
export function singleKeys(on) {
  if (on !== undefined) try { localStorage.setItem("single-keys", on ? "on" : "off"); } catch { /* not kept */ }
  try { return localStorage.getItem("single-keys") !== "off"; } catch { return true; }
}

const seen = (one) => one.checkVisibility?.({ visibilityProperty: true }) ?? one.offsetParent !== null;
const items = () => [...document.querySelectorAll("[data-item]")].filter(seen);

/** Put the keyboard on an item. @param {HTMLElement | undefined} next */
function moveTo(next) {
  if (!next) return;
  for (const one of document.querySelectorAll("[data-item][tabindex='0']")) one.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

/** Go to the next item, or the one before; the first in sight where the keyboard is on none. @param {number} by */
function step(by) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(item());
  if (at < 0) {
    // The first that is in sight.
    moveTo(all.find((one) => one.getBoundingClientRect().bottom > 80) ?? all[0]);
    return;
  }
  const next = all[at + by];
  if (next) moveTo(next);
  else say(by > 0 ? "The last one." : "The first one.");
}

/**
 * What a letter presses: in the item that is meant, else on the page around the items; never in another item.
 * @param {string} key
 * @param {HTMLElement | null} [inItem]
 */
export function pressable(key, inItem = meant()) {
  return pressables(inItem).find((one) => one.dataset.key === key && !one.disabled);
}

/** What may be pressed by a letter from an item. @param {HTMLElement | null} inItem @returns {HTMLElement[]} */
function pressables(inItem) {
  const all = [...(inItem?.querySelectorAll("[data-key]") ?? []), ...document.querySelectorAll("[data-key]")];
  return all.filter((one) => seen(one) && (!one.closest("[data-item]") || one.closest("[data-item]") === inItem));
}

/**
 * What the letters of this page do; with `inItem` given, there and around the items alone.
 * @param {HTMLElement | null} [inItem]
 */
export function keysOfThisPage(inItem) {
  const found = new Map();
  for (const one of inItem === undefined ? document.querySelectorAll("[data-key]") : pressables(inItem)) {
    const label = one.dataset.keyLabel || one.textContent.trim() || one.getAttribute("aria-label") || "";
    if (one.dataset.key !== "/" && label && !found.has(one.dataset.key)) found.set(one.dataset.key, label);
  }
  return found;
}

/** Show the list of keys. */
function dialog() {
  const made = document.getElementById("keys");
  const lists = made.querySelector(".keys-lists");
  const list = (title, rows) => rows.length ? el("section", {}, el("h3", {}, title), ...rows.map(([keys, what]) => el("div", {}, el("span", {}, what), el("span", { class: "keys" }, ...keys.split(" ").map((one) => el("kbd", {}, one)))))) : null;
  const views = [...document.querySelectorAll("[data-menu][data-go]:not([data-go=''])")].map((one) => [`g ${one.dataset.go}`, one.querySelector("span").textContent]);
  lists.replaceChildren(...[
    list("Everywhere", [["/", "Search"], ["Ctrl K", "Find a view, a command or a memory"], ["?", "These keys"], ["j", "Next one"], ["k", "One before"], ["Enter", "Open it"], ["u", "Undo what was just done"], ["T", "Times: how long ago, or exact"], ["D", "Light or dark"], ["Esc", "Close, or leave a field"]]),
    list("On this page", [...keysOfThisPage()]),
    list("Go to", views),
  ].filter(Boolean));
  made.querySelector("[data-single-keys]").checked = singleKeys();
  made.showModal();
}

/** Show every time exactly, or how long ago it was. */
export function switchTimes() {
  const exact = document.documentElement.dataset.times !== "exact";
  document.documentElement.dataset.times = exact ? "exact" : "";
  for (const one of document.querySelectorAll("time[data-relative]")) {
    one.dataset.told ??= one.textContent;
    one.textContent = exact ? one.dataset.relative : one.dataset.told;
  }
  say(exact ? "Times are exact." : "Times are relative.");
}

/** Change between light and dark, and keep that. */
export function switchTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* not kept */ }
  say(next === "dark" ? "Dark." : "Light.");
}

const fixed = {
  "?": dialog,
  j: () => step(1),
  k: () => step(-1),
  T: switchTimes,
  D: switchTheme,
  u: () => [...document.querySelectorAll("[data-undo]")].at(-1)?.click(),
};

/** Do what a key is for. @param {KeyboardEvent} event */
function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
  if (event.key === "Escape") {
    if (field && !event.target.closest("dialog")) field.blur();
    return;
  }
  if (field || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && event.target.matches("[data-item]")) {
    const open = event.target.querySelector("[data-open]");
    if (open) { event.preventDefault(); open.click(); }
    return;
  }
  if (!singleKeys()) return;
  if (going) {
    clearTimeout(going);
    going = 0;
    const to = document.querySelector(`[data-menu][data-go="${CSS.escape(event.key)}"]`);
    if (to) { event.preventDefault(); to.click(); }
    return;
  }
  if (event.key === "g") { going = setTimeout(() => { going = 0; }, WAIT); return; }
  if (event.key === "/") {
    event.preventDefault();
    const where = document.querySelector("main input[type=search]") ?? document.querySelector(".top-search input");
    where.focus();
    where.select();
    return;
  }
  const press = pressable(event.key);
  if (press) {
    event.preventDefault();
    press.matches("input[type=search], input[type=text]") ? press.focus() : press.click();
    return;
  }
  if (fixed[event.key]) { event.preventDefault(); fixed[event.key](); }
}

/** Listen to keys, and let each item be reached by them. */
export function begin() {
  document.addEventListener("keydown", pressed);
  for (const one of document.querySelectorAll("[data-item]:not([tabindex])")) one.setAttribute("tabindex", "-1");
  const first = items()[0];
  if (first) first.setAttribute("tabindex", "0");
  document.addEventListener("focusin", (event) => {
    const one = event.target.closest?.("[data-item]");
    if (one && !one.hasAttribute("tabindex")) one.setAttribute("tabindex", "-1");
  });
  new MutationObserver(() => {
    for (const one of document.querySelectorAll("[data-item]:not([tabindex])")) one.setAttribute("tabindex", "-1");
    if (!document.querySelector("[data-item][tabindex='0']")) items()[0]?.setAttribute("tabindex", "0");
  }).observe(document.getElementById("view"), { childList: true, subtree: true });
  document.querySelector("[data-keys]")?.addEventListener("click", dialog);
  document.querySelector("[data-single-keys]")?.addEventListener("change", (event) => singleKeys(event.target.checked));
  document.querySelector("[data-theme-switch]")?.addEventListener("click", switchTheme);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
    else if (event.target.nodeName === "DIALOG") event.target.close(); // beside it
    else if (event.target.matches?.("time[data-relative]") && !event.target.closest("a, button, summary")) switchTimes();
  });
}
