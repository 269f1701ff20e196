// OpenAI Agents SDK for JavaScript: an agent whose scripted model calls one tool; the schemas are those of strict function calling.
import { Agent, MCPServerStdio, MCPServerStreamableHttp, Usage, getAllMcpTools, run, setTracingDisabled } from "@openai/agents";
import { headers, job, play } from "./steps.mjs";

setTracingDisabled(true);

// Calls a tool, and keeps what it is told of it.
class OneCall {
  constructor(name, given) {
    this.call = { type: "function_call", callId: "call-1", name, status: "completed", arguments: JSON.stringify(given) };
  }

  async getResponse({ input }) {
    const told = Array.isArray(input) ? input.filter((item) => item.type === "function_call_result") : [];
    if (told.length === 0) return { usage: new Usage(), output: [this.call] };
    this.told = told.at(-1).output;
    const done = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] };
    return { usage: new Usage(), output: [done] };
  }

  getStreamedResponse() {
    throw new Error("is not used");
  }
}

function textOf(told) {
  return typeof told === "string" ? told : (told.text ?? JSON.stringify(told));
}

async function connect() {
  const [command, ...args] = job.command ?? [];
  const server =
    job.transport === "http"
      ? new MCPServerStreamableHttp({ url: job.url, name: "memory", requestInit: { headers } })
      : new MCPServerStdio({ command, args, name: "memory" });
  await server.connect();
  const strict = { convertSchemasToStrict: true };
  return {
    tools: async () => {
      const tools = await getAllMcpTools({ mcpServers: [server], ...strict });
      const loose = tools.filter((tool) => !tool.strict).map((tool) => tool.name);
      if (loose.length > 0) throw new Error(`has no strict schema: ${loose}`);
      return tools.map((tool) => tool.name);
    },
    call: async (name, given) => {
      const model = new OneCall(name, given);
      await run(new Agent({ name: "assistant", model, mcpServers: [server], mcpConfig: strict }), "go");
      return { text: textOf(model.told), failed: null };
    },
    close: () => server.close(),
  };
}

await play(connect);
