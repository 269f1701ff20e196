// What changes while the page is open: one stream of events, and the parts of the page that follow it.
import { on, refresh, relative, say, tell } from "./core.js";
import { listen } from "./events.js";

const PAUSE = 250; // milliseconds: a burst of changes is one

let waiting = 0;
let busy = false;
let again = false;

/** Show whether the page is live. @param {string} state @param {string} text */
function mark(state, text) {
  for (const one of document.querySelectorAll("[data-live-state]")) {
    one.dataset.liveState = state;
    const told = one.querySelector(".live-text");
    if (told && told.textContent !== text) told.textContent = text;
  }
}

/** Let the sign beat once: something changed. */
function beat() {
  for (const one of document.querySelectorAll("[data-live-state]")) {
    one.classList.remove("is-beating");
    void one.offsetWidth; // begins the animation anew
    one.classList.add("is-beating");
  }
}

/** Draw all live parts anew, unless somebody is writing. */
async function follow() {
  if (busy) { again = true; return; }
  // Nobody who writes or reads a dialog wants the ground to move.
  if (document.querySelector("dialog[open]") || document.activeElement?.matches("[data-live] input, [data-live] textarea")) { again = true; return; }
  busy = true;
  try {
    for (const one of document.querySelectorAll("[data-live][id]")) await refresh(one).catch(() => {});
  } finally {
    busy = false;
  }
  if (again) { again = false; soon(); }
}

/** Follow when the changes have paused. */
function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(follow, PAUSE);
}

const STATES = { live: ["on", "live"], waiting: ["off", "connecting"], ended: ["off", "ended"] };

/** Take an event of the stream. @param {string} type @param {any} data */
function heard(type, data) {
  if (type === "state") {
    mark(...STATES[data]);
    if (data === "ended") say("The page is not live any more. Run hybrid-memory-mcp inspect again.");
    return;
  }
  // What cannot be told one by one is a change like any other: what is shown is asked for anew.
  tell(type === "reload" ? "change" : type, data);
}

on("change", () => { beat(); soon(); });
document.addEventListener("close", () => { if (again) soon(); }, true);

// "3 minutes ago" goes on.
setInterval(() => {
  for (const one of document.querySelectorAll("time[data-relative]")) {
    if (document.documentElement.dataset.times === "exact") continue;
    const told = relative(one.dateTime);
    if (one.textContent !== told) one.textContent = told;
  }
}, 30000);

listen(heard);
