// Mastra: an agent with the toolsets of its `MCPClient`; the model is the mock of its test utilities.
import { Agent } from "@mastra/core/agent";
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import { MCPClient } from "@mastra/mcp";
import { headers, hearing, job, play } from "./steps.mjs";

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

function answerOf(content, finishReason) {
  const parts = content.flatMap((one) =>
    one.type === "tool-call"
      ? [one]
      : [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: one.text }, { type: "text-end", id: "1" }],
  );
  const stream = new ReadableStream({
    start(queue) {
      queue.enqueue({ type: "stream-start", warnings: [] });
      for (const part of [...parts, { type: "finish", finishReason, usage }]) queue.enqueue(part);
      queue.close();
    },
  });
  return { content, finishReason, usage, warnings: [], stream };
}

function textOf(output) {
  if (typeof output.value === "string") return output.value;
  if (output.type === "content") return output.value.map((part) => part.text ?? "").join("\n");
  return JSON.stringify(output.value);
}

async function connect() {
  const [command, ...args] = job.command ?? [];
  const memory = job.transport === "http" ? { url: new URL(job.url), requestInit: { headers } } : { command, args };
  const mcp = new MCPClient({ id: `driver-${process.hrtime.bigint()}`, servers: { memory }, timeout: 30_000 });
  const { tell, heard } = hearing();
  const toolsets = await mcp.listToolsets();
  return {
    heard,
    tools: async () => Object.keys(toolsets.memory),
    subscribe: async (uri) => {
      await mcp.resources.onUpdated("memory", (update) => tell(update.uri));
      await mcp.resources.subscribe("memory", uri);
    },
    call: async (name, given) => {
      let told;
      const next = async ({ prompt }) => {
        const last = prompt.at(-1);
        if (last.role === "tool") {
          told = last.content[0].output;
          return answerOf([{ type: "text", text: "done" }], "stop");
        }
        const call = { type: "tool-call", toolCallId: "call-1", toolName: name, input: JSON.stringify(given) };
        return answerOf([call], "tool-calls");
      };
      const model = new MastraLanguageModelV2Mock({ doGenerate: next, doStream: next });
      const agent = new Agent({ id: "assistant", name: "assistant", instructions: "Remember.", model });
      await agent.generate("go", { toolsets, maxSteps: 2 });
      return { text: textOf(told), failed: told.type.startsWith("error") ? true : null };
    },
    close: () => mcp.disconnect(),
  };
}

await play(connect);
