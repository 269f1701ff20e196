// A chat that shows MCP Apps by the official library. The test's Python is its connection with the server: `toServer(method, params)`.

import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const frame = document.getElementById("app");
window.seen = { contexts: [], sizes: [], modes: [] };

/** Show a tool's answer in the server's app, as a chat does after its model called the tool. */
window.show = async ({ sandbox, tool, given, context, capabilities = { serverTools: {}, updateModelContext: { text: {} } }, withoutDetails = false }) => {
  document.documentElement.style.colorScheme = context.theme ?? "light dark";
  document.getElementById("said").textContent = `I looked into your memory: ${given.query ?? given.focus ?? "…"}`;
  const resource = await toServer("resources/read", { uri: tool._meta.ui.resourceUri });
  const { text: html, mimeType, _meta } = resource.contents[0];
  if (mimeType !== "text/html;profile=mcp-app") throw new Error(`no app, but ${mimeType}`);
  const bridge = new AppBridge(null, { name: "a chat", version: "1" }, capabilities, {
    hostContext: { availableDisplayModes: ["inline", "fullscreen"], displayMode: "inline", locale: "en-GB", timeZone: "Europe/Lisbon", toolInfo: { tool }, ...context },
  });
  window.bridge = bridge;
  bridge.oncalltool = (params) => toServer("tools/call", params);
  bridge.onsizechange = ({ height }) => {
    window.seen.sizes.push(height);
    if (!frame.classList.contains("fullscreen")) frame.style.height = `${height}px`;
  };
  bridge.onupdatemodelcontext = async (params) => {
    window.seen.contexts.push(params);
    return {};
  };
  bridge.onrequestdisplaymode = async ({ mode }) => {
    window.seen.modes.push(mode);
    frame.classList.toggle("fullscreen", mode === "fullscreen");
    return { mode };
  };
  const ready = new Promise((resolve) => (bridge.onsandboxready = resolve));
  const initialized = new Promise((resolve) => (bridge.oninitialized = resolve));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = sandbox;
  await ready;
  await bridge.sendSandboxResourceReady({ html, csp: _meta?.ui?.csp, permissions: _meta?.ui?.permissions });
  await initialized;
  await bridge.sendToolInput({ arguments: given });
  const result = await toServer("tools/call", { name: tool.name, arguments: given });
  if (withoutDetails) delete result.structuredContent;
  await bridge.sendToolResult(result);
};
window.ready = true;
