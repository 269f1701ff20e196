// Ctrl-K: views, what can be done here, and memories by words.
import { el, fetchJson, meant, relative, url } from "./core.js";
import { keysOfThisPage, pressable, switchTheme, switchTimes } from "./keys.js";

const MOST = 9;
const PAUSE = 120; // milliseconds between a letter and the search
let asked = null;
let pause = 0;
let at = 0;
let shown = [];
let from = null; // the item that the keyboard was on: commands are for it

const box = () => document.getElementById("palette");
const input = () => box().querySelector("input");

/** What can be run from here: the views, the letters of this page, the switches. */
function commands() {
  const views = [...document.querySelectorAll("[data-menu]")].map((one) => ({ text: one.querySelector("span").textContent, note: one.dataset.go ? `g ${one.dataset.go}` : "view", run: () => one.click() }));
  const here = [...keysOfThisPage(from)].map(([key, label]) => ({ text: label, note: key, run: () => pressable(key, from)?.click() }));
  return [...views, ...here, { text: "Switch between light and dark", note: "D", run: switchTheme }, { text: "Show times exactly, or how long ago", note: "T", run: switchTimes }];
}

/** Whether a text has all of some words in lower case. @param {string} text @param {string[]} words */
function fits(text, words) {
  const low = text.toLocaleLowerCase();
  return words.every((word) => low.includes(word));
}

/** Show what was found. @param {{text: string, note: string, run: () => void}[]} found */
function draw(found) {
  shown = found;
  at = Math.min(at, Math.max(found.length - 1, 0));
  const list = box().querySelector("ul");
  list.replaceChildren(...found.map((one, number) => el("li", { role: "option", id: `palette-${number}`, "aria-selected": number === at ? "true" : "false", onclick: () => take(one), onmousemove: () => point(number) }, el("span", { dir: "auto" }, one.text), el("small", {}, one.note))));
  input().setAttribute("aria-activedescendant", found.length ? `palette-${at}` : "");
}

/** Go to one of the list; round at its ends. @param {number} number */
function point(number) {
  if (number === at || !shown.length) return;
  at = (number + shown.length) % shown.length;
  for (const [index, one] of [...box().querySelectorAll("li")].entries()) {
    one.setAttribute("aria-selected", index === at ? "true" : "false");
    if (index === at) one.scrollIntoView({ block: "nearest" });
  }
  input().setAttribute("aria-activedescendant", `palette-${at}`);
}

/** Run one of the list. @param {{run: () => void} | undefined} one */
function take(one) {
  box().close();
  one?.run();
}

/** Find what fits what was typed: commands at once, memories a moment later. */
function typed() {
  const text = input().value.trim();
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const known = commands().filter((one) => fits(one.text, words));
  const search = { text: `Search for “${text}”`, note: "Enter", run: () => location.assign(url("/search", { q: text })) };
  draw(text ? [...known.slice(0, MOST - 1), search] : known);
  clearTimeout(pause);
  asked?.abort();
  if (text.length < 2 || !document.querySelector("[data-menu][href^='/search']")) return;
  pause = setTimeout(async () => {
    asked = new AbortController();
    try {
      const { hits = [] } = await fetchJson(url("/search.json", { q: text, limit: 5 }), { signal: asked.signal });
      const memories = hits.map((hit) => hit.memory ?? hit).filter((one) => one?.id && one?.content);
      draw([...known.slice(0, 4), search, ...memories.map((one) => ({ text: one.content.slice(0, 200), note: one.created_at ? relative(one.created_at) : "", run: () => location.assign(url(`/memories/${encodeURIComponent(one.id)}`)) }))]);
    } catch { /* the views are there all the same */ }
  }, PAUSE);
}

/** Open the palette, or close the one that is open. */
function open() {
  if (box().open) { box().close(); return; }
  from = meant();
  input().value = "";
  at = 0;
  box().showModal();
  typed();
}

/** Listen to Ctrl-K, and to what is typed. */
export function begin() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") { event.preventDefault(); open(); }
  });
  document.querySelector("[data-palette]")?.addEventListener("click", open);
  input().addEventListener("input", () => { at = 0; typed(); });
  input().addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); point(at + 1); }
    else if (event.key === "ArrowUp") { event.preventDefault(); point(at - 1); }
    else if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); take(shown[at]); }
  });
}
