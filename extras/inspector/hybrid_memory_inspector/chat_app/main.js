// Begin: connect with the host, then show what it tells.

import { Host } from "./host.js";
import { Page } from "./page.js";

const host = new Host();
const page = new Page(host, document.body);

host.on("tool-input-partial", ({ arguments: given }) => page.asked(given ?? {}));
host.on("tool-input", ({ arguments: given }) => page.asked(given ?? {}));
host.on("tool-result", (result) => page.answered(result));
host.on("tool-cancelled", () => page.tell("The assistant did not look after all."));
host.on("host-context-changed", () => page.follow());

let told = 0;
new ResizeObserver(() => {
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  if (height === told) return;
  told = height;
  host.notify("ui/notifications/size-changed", { width: window.innerWidth, height });
}).observe(document.body);

host.connect(document.documentElement.dataset.version).then(
  () => page.follow(),
  (error) => page.fail(error.message),
);
