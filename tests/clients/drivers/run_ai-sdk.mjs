// Vercel's AI SDK: `generateText` with the tools of its MCP client; the model is the mock of `ai/test`.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { headers, job, play } from "./steps.mjs";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

function textOf(output) {
  if (typeof output.value === "string") return output.value;
  if (output.type === "content") return output.value.map((part) => part.text ?? "").join("\n");
  return JSON.stringify(output.value);
}

async function connect() {
  const [command, ...args] = job.command ?? [];
  const client = await createMCPClient({
    transport:
      job.transport === "http" ? { type: "http", url: job.url, headers } : new StdioTransport({ command, args }),
  });
  const tools = await client.tools();
  return {
    tools: async () => Object.keys(tools),
    call: async (name, given) => {
      let told;
      const model = new MockLanguageModelV4({
        doGenerate: async ({ prompt }) => {
          const last = prompt.at(-1);
          if (last.role === "tool") {
            told = last.content[0].output;
            const done = { type: "text", text: "done" };
            return { content: [done], finishReason: { unified: "stop" }, usage, warnings: [] };
          }
          const call = { type: "tool-call", toolCallId: "call-1", toolName: name, input: JSON.stringify(given) };
          return { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] };
        },
      });
      await generateText({ model, tools, prompt: "go", stopWhen: isStepCount(2) });
      return { text: textOf(told), failed: told.type.startsWith("error") ? true : null };
    },
    close: () => client.close(),
  };
}

await play(connect);
