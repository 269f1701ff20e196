// What changes while the page is open: one stream of events, and the parts of the page that follow it.
import { on, refresh, relative, say, tell } from "./core.js";

const PAUSE = 250; // milliseconds: a burst of changes is one
const RETRY = [1000, 2000, 5000, 10000, 30000];

let waiting = 0;
let failures = 0;
let busy = false;
let again = false;

function mark(state, text) {
  for (const one of document.querySelectorAll("[data-live-state]")) {
    one.dataset.liveState = state;
    const told = one.querySelector(".live-text");
    if (told && told.textContent !== text) told.textContent = text;
  }
}

function beat() {
  for (const one of document.querySelectorAll("[data-live-state]")) {
    one.classList.remove("is-beating");
    void one.offsetWidth; // begins the animation anew
    one.classList.add("is-beating");
  }
}

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

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(follow, PAUSE);
}

function listen() {
  const stream = new EventSource("/events");
  stream.addEventListener("open", () => { failures = 0; mark("on", "live"); });
  const heard = (event) => {
    let data = {};
    try { data = JSON.parse(event.data || "{}"); } catch { /* a heartbeat */ }
    tell(event.type === "message" ? "change" : event.type, data);
  };
  for (const type of ["message", "change", "recall", "clients", "notice"]) stream.addEventListener(type, heard);
  stream.addEventListener("leave", () => { stream.close(); mark("off", "ended"); say("The page's server has ended."); });
  stream.addEventListener("error", () => {
    if (stream.readyState !== EventSource.CLOSED) { mark("off", "connecting"); return; }
    mark("off", "not live");
    if (failures < RETRY.length * 3) setTimeout(listen, RETRY[Math.min(failures++, RETRY.length - 1)]);
  });
  addEventListener("pagehide", () => stream.close(), { once: true });
}

on("change", () => { beat(); soon(); });
document.addEventListener("close", () => { if (again) soon(); }, true);
addEventListener("pageshow", (event) => { if (event.persisted) { listen(); soon(); } });

// "3 minutes ago" goes on.
setInterval(() => {
  for (const one of document.querySelectorAll("time[data-relative]")) {
    if (document.documentElement.dataset.times === "exact") continue;
    const told = relative(one.dateTime);
    if (one.textContent !== told) one.textContent = told;
  }
}, 30000);

listen();
