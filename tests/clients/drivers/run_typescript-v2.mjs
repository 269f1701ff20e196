// The TypeScript SDK, version 2, which speaks either era.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { headers, hearing, job, play, shown } from "./steps.mjs";

async function connect() {
  const mode = job.era === "modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name: "typescript-v2", version: "1.0.0" }, { versionNegotiation: { mode } });
  const { tell, heard } = hearing();
  client.setNotificationHandler("notifications/resources/updated", (update) => tell(update.params.uri));
  const [command, ...args] = job.command ?? [];
  await client.connect(
    job.transport === "http"
      ? new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers } })
      : new StdioClientTransport({ command, args }),
  );
  return {
    heard,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    subscribe: (uri) =>
      job.era === "modern" ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri }),
    close: () => client.close(),
    call: async (name, given) => {
      const result = await client.callTool({ name, arguments: given });
      return { text: shown(result), failed: result.isError ?? false };
    },
  };
}

await play(connect);
