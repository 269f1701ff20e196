// What changes in the memory, told to every open page of this browser over one connection: a browser opens six at most to one
// address, and each stream would hold one of them. One page listens (who has the lock) and tells the others.

const NAME = "hybrid-memory-events";
const TYPES = ["hello", "change", "reload", "bye"];
const RETRY = [1000, 2000, 5000, 10000, 30000]; // milliseconds, when the server is there and refuses

/**
 * Listens to what changes, until the page is left.
 * @param {(type: "hello" | "change" | "reload" | "bye" | "state", data: any) => void} hear Called with what the server tells, and with
 *   "state": "live" while it is heard, "waiting" while the connection is being made anew, "ended" when nobody is there any more.
 */
export function listen(hear) {
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
  const shares = channel && navigator.locks;
  let stream = null;
  let state = "";
  let last = ""; // the number of the last event, with which a page that takes over asks for what was missed
  let failures = 0;
  let leave = () => {};

  const be = (now) => {
    if (now === state) return;
    state = now;
    hear("state", now);
  };
  const tell = (type, data) => {
    if (stream && channel) channel.postMessage({ type, data, last, state });
  };

  function connect() {
    stream = new EventSource(last ? `/events?after=${encodeURIComponent(last)}` : "/events");
    stream.addEventListener("open", () => { failures = 0; be("live"); tell("state", "live"); });
    for (const type of TYPES) {
      stream.addEventListener(type, (event) => {
        last = event.lastEventId || last;
        const data = JSON.parse(event.data);
        hear(type, data);
        if (type === "bye") end();
        tell(type, data);
      });
    }
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) { be("waiting"); tell("state", "waiting"); return; }
      // It answered, but not with events: it is busy, or it is another server by now, for which this page has no cookie.
      if (failures >= RETRY.length) { end(); tell("state", "ended"); return; }
      be("waiting");
      tell("state", "waiting");
      setTimeout(() => { if (stream) connect(); }, RETRY[failures++]);
    });
  }

  function end() {
    stream?.close();
    be("ended");
  }

  function begin() {
    if (!shares) { connect(); return; }
    navigator.locks.request(NAME, () => new Promise((resolve) => {
      leave = resolve;
      if (state !== "ended") connect();
    })).catch(() => connect());
    channel.postMessage({ type: "who" });
  }

  channel?.addEventListener("message", ({ data: told }) => {
    if (told.type === "who") { tell("state", state); return; }
    last = told.last || last;
    if (told.state) be(told.state);
    if (told.type !== "state") hear(told.type, told.data);
  });
  addEventListener("pagehide", () => { stream?.close(); stream = null; leave(); });
  // A page that comes back as it was left begins anew: it may have missed anything.
  addEventListener("pageshow", (event) => { if (event.persisted) { last = ""; begin(); hear("reload", { namespaces: [] }); } });
  begin();
}
