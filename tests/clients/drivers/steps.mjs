// What all JavaScript drivers share; see steps.py. `play` is given a function that connects and returns an object with
// tools(), call(tool, arguments) -> {text, failed}, close(), and where it can subscribe(uri) and heard().
import { createInterface } from "node:readline";

export const job = JSON.parse(process.argv[2]);
export const headers = { Authorization: `Bearer ${job.token ?? ""}` };

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr); // what libraries print is no answer

function answer(values) {
  write(JSON.stringify(values) + "\n");
}

function within(seconds, promise) {
  const late = new Promise((_, fail) => setTimeout(() => fail(new Error(`nothing within ${seconds} s`)), 1000 * seconds));
  return Promise.race([promise, late]);
}

async function obey(client, order) {
  if (order.does === "call") return await client.call(order.tool, order.arguments);
  if (order.does === "tools") return { text: (await client.tools()).sort().join(" ") };
  if (order.does === "subscribe") return (await client.subscribe(order.uri), { text: "" });
  return { text: await within(15, client.heard()) };
}

export async function play(connect) {
  try {
    let client = await connect();
    answer({ text: "connected" });
    for await (const line of createInterface({ input: process.stdin })) {
      const order = JSON.parse(line);
      if (order.does === "end") break;
      try {
        if (order.does === "reconnect") {
          await client.close();
          client = await connect();
          answer({ text: "connected" });
        } else {
          answer(await obey(client, order));
        }
      } catch (error) {
        console.error(error);
        answer({ raised: `${error.name}: ${error.message}` });
      }
    }
    await client.close();
  } catch (error) {
    console.error(error);
    answer({ raised: `${error.name}: ${error.message}`, ended: true });
  }
  process.exit(0);
}

// The text of a tool's result.
export function shown(result) {
  return (result.content ?? []).map((part) => part.text ?? "").join("\n");
}

// What was heard, for those who wait for it.
export function hearing() {
  let tell;
  const first = new Promise((resolve) => (tell = resolve));
  return { tell, heard: () => first };
}
