// While the names are gathered for the first time: look again until they are there.
import { fetchJson, refresh, url } from "./core.js";

const PAUSE_MS = 600;

/** Look again until the names are there, then show them. */
async function wait() {
  const found = await fetchJson(url("/names.json", { wait: 1, limit: 1 })).catch(() => null);
  if (found?.ready) await refresh(document.getElementById("all-names"));
  else setTimeout(wait, PAUSE_MS);
}

if (document.querySelector("[data-wait]")) wait();
