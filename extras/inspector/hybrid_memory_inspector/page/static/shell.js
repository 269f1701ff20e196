// What every page does: keys, the palette, the stream of events, and the chooser of whose memories are shown.
import * as keys from "./keys.js";
import * as palette from "./palette.js";
import { toast } from "./core.js";
import "./live.js";

keys.begin();
palette.begin();
document.querySelector("[data-place]")?.addEventListener("change", (event) => {
  const form = event.target.form;
  // An empty choice leaves no parameter behind.
  if (!event.target.value) event.target.disabled = true;
  form.submit();
});

// The words of a memory open it, as its link does; who marks them to copy stays.
document.addEventListener("click", (event) => {
  const words = event.target.closest(".card-words");
  if (!words || event.target.closest("a, button, summary, input, label") || String(getSelection())) return;
  words.closest("[data-item]")?.querySelector("a[data-open]")?.click();
});

// What htmx could not get: the page's server is gone, or lets this browser in no longer.
const ENDED = "This page is not served any more. Run `hybrid-memory-mcp inspect` again.";
let told = false;
addEventListener("pagehide", () => { told = true; }); // who leaves need not hear that an answer did not come
addEventListener("pageshow", () => { told = false; });
const tellOnce = (text) => {
  if (told) return;
  told = true;
  toast(text, { tone: "bad" });
  setTimeout(() => { told = false; }, 8000);
};
document.addEventListener("htmx:error", () => tellOnce(ENDED));
document.addEventListener("htmx:response:error", (event) => {
  const status = event.detail?.ctx?.response?.status;
  if (status === 403) tellOnce(ENDED);
  else if (status >= 500) tellOnce("That could not be shown just now. Try again in a moment.");
});
