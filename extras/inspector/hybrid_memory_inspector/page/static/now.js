// The view Now: shows which memories have just come, and which have become stronger.
import { on, say } from "./core.js";

const state = () => new Map([...document.querySelectorAll(".slip")].map((one) => [one.id, { tier: one.dataset.tier, enhanced: Number(one.dataset.enhanced) }]));
let before = state();

on("refreshed", () => {
  const after = state();
  let came = 0;
  let moved = 0;
  for (const [id, { tier, enhanced }] of after) {
    const was = before.get(id);
    const slip = document.getElementById(id);
    slip.classList.remove("is-new", "is-stronger");
    if (!was) came += 1;
    else if (was.tier !== tier) moved += 1;
    if (!was || was.tier !== tier) slip.classList.add("is-new");
    else if (enhanced > was.enhanced) slip.classList.add("is-stronger");
  }
  if (came || moved) say([came && `${came} new`, moved && `${moved} moved`].filter(Boolean).join(", "));
  before = after;
});
