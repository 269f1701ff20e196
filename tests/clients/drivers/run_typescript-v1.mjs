// The TypeScript SDK, version 1.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { headers, hearing, job, play, shown } from "./steps.mjs";

async function connect() {
  const client = new Client({ name: "typescript-v1", version: "1.0.0" });
  const { tell, heard } = hearing();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (update) => tell(update.params.uri));
  const [command, ...args] = job.command ?? [];
  await client.connect(
    job.transport === "http"
      ? new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers } })
      : new StdioClientTransport({ command, args }),
  );
  return {
    heard,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    subscribe: (uri) => client.subscribeResource({ uri }),
    close: () => client.close(),
    call: async (name, given) => {
      const result = await client.callTool({ name, arguments: given });
      return { text: shown(result), failed: result.isError ?? false };
    },
  };
}

await play(connect);
