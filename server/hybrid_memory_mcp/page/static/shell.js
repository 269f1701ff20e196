// What every page does: keys, the palette, the stream of events, and the chooser of whose memories are shown.
import * as keys from "./keys.js";
import * as palette from "./palette.js";
import "./live.js";

keys.begin();
palette.begin();
document.querySelector("[data-place]")?.addEventListener("change", (event) => {
  const form = event.target.form;
  // An empty choice leaves no parameter behind.
  if (!event.target.value) event.target.disabled = true;
  form.submit();
});
