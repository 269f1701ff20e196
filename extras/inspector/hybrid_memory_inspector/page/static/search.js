// Search: a date or a number is sent when it is whole, words are sent as they are typed; what was unfolded stays so when memories change.
import { on } from "./core.js";

for (const form of document.querySelectorAll("form.filters")) {
  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-whole]")) event.stopImmediatePropagation();
  }, true);
}

/** Whether a person unfolded something or folded it away, by what it is. @type {Map<string, boolean>} */
const unfolded = new Map();

/** @param {HTMLDetailsElement} part */
function nameOf(part) {
  return part.id || `${part.closest("[data-id]")?.dataset.id ?? ""} ${part.className}`;
}

document.addEventListener("click", (event) => {
  const part = event.target.closest("#results summary")?.parentElement;
  if (part) setTimeout(() => unfolded.set(nameOf(part), part.open));
});

on("refreshed", () => {
  for (const part of document.querySelectorAll("#results details")) {
    const open = unfolded.get(nameOf(part));
    if (open !== undefined) part.open = open;
  }
});
