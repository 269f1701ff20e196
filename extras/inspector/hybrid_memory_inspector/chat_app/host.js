// The conversation with the host, by the MCP Apps specification of 2026-01-26: JSON-RPC over postMessage.

const PROTOCOL = "2026-01-26";
const CARD = "io.github.hybrid-memory-mcp/card";
const NO_SUCH_METHOD = -32601;

/** What the host cannot or will not do. */
export class HostError extends Error {}

/** The host, as the app sees it. `on` takes what it tells; `context` and `capabilities` are what it told of itself. */
export class Host {
  #frame;
  #own;
  #next = 1;
  #waiting = new Map();
  #listeners = new Map();
  context = {};
  capabilities = {};

  /**
   * @param {Window} frame whom to speak to
   * @param {Window} own where answers arrive
   */
  constructor(frame = window.parent, own = window) {
    this.#frame = frame;
    this.#own = own;
    own.addEventListener("message", (event) => {
      if (event.source === this.#frame) this.#take(event.data);
    });
  }

  /** Have a function called with what the host tells under a name, as "tool-result". */
  on(name, listener) {
    this.#listeners.set(`ui/notifications/${name}`, listener);
  }

  /** Make the handshake; from then on the host tells what there is to show. */
  async connect(version) {
    const told = await this.request("ui/initialize", {
      protocolVersion: PROTOCOL,
      appInfo: { name: "hybrid-memory inspector", version },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    this.capabilities = told.hostCapabilities ?? {};
    this.context = told.hostContext ?? {};
    this.notify("ui/notifications/initialized", {});
  }

  /** Whether the host calls our tools for us; otherwise there is only to look. */
  get canCall() {
    return Boolean(this.capabilities.serverTools);
  }

  /**
   * Call one of the server's tools on the person's behalf.
   * @returns {Promise<{structured: Record<string, any>, meta: Record<string, any>}>} the structured part of its answer, its metadata
   */
  async callTool(name, given) {
    const result = await this.request("tools/call", { name, arguments: given, _meta: { [CARD]: true } });
    if (result.isError) throw new HostError(textOf(result) || "The memory could not do that.");
    return { structured: result.structuredContent ?? {}, meta: result._meta ?? {} };
  }

  /** Ask the host something. */
  request(method, params) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /** Tell the host something. */
  notify(method, params) {
    this.#send({ method, params });
  }

  #send(message) {
    this.#frame.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  #take(message) {
    if (!message || typeof message !== "object" || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) this.#settle(message);
    else if (message.id === undefined) this.#tell(message.method, message.params ?? {});
    else this.#answer(message);
  }

  #settle({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new HostError(String(error.message ?? "The chat refused.")));
    else waiting?.resolve(result ?? {});
  }

  #tell(method, params) {
    if (method === "ui/notifications/host-context-changed") this.context = { ...this.context, ...params };
    this.#listeners.get(method)?.(params);
  }

  #answer({ id, method }) {
    const known = method === "ping" || method === "ui/resource-teardown";
    this.#send({ id, ...(known ? { result: {} } : { error: { code: NO_SUCH_METHOD, message: "Method not found" } }) });
  }
}

/** Return what an answer says in words. */
export function textOf(result) {
  return (result?.content ?? []).filter((one) => one.type === "text").map((one) => one.text).join("\n");
}
