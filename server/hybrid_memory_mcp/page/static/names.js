// While the names are gathered for the first time: look again until they are there.
import { fetchJson, url } from "./core.js";

const PAUSE_MS = 600;

async function wait() {
  const found = await fetchJson(url("/names.json", { wait: 1, limit: 1 })).catch(() => null);
  if (found?.ready) location.reload();
  else setTimeout(wait, PAUSE_MS);
}

if (document.querySelector("[data-wait]")) wait();
