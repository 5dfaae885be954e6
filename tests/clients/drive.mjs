// Runs operations on the built client and prints what came of each, as JSON.
//   node drive.mjs <dist> <server> <silence in ms> <operations>
// A line on stdin aborts the operation that runs.

import process from "node:process";

const [dist, baseUrl, silence, operations] = process.argv.slice(2);
const { Client, ConnectionLost, Refused } = await import(`${dist}/index.js`);
const client = new Client({ baseUrl, silence: Number(silence) });
const controller = new AbortController();
const known = { chat: undefined, message: undefined };
process.stdin.once("data", () => controller.abort());

async function outcomeOf({ name, args = [], leave = null, abort = null, key }) {
  const given = args.map((arg) => (arg?.startsWith?.("$") ? known[arg.slice(1)] : arg));
  const options = { signal: controller.signal, idempotencyKey: key };
  const outcome = { events: [], value: null, problem: null };
  try {
    if (name !== "ask" && name !== "regenerate") {
      outcome.value = (await client[name](...given)) ?? null;
      return outcome;
    }
    const stream =
      name === "ask"
        ? client.ask(given[0], { chatId: given[1], ...options })
        : client.regenerate(given[0], given[1], options);
    if (abort === 0) controller.abort();
    for await (const event of stream) {
      known.chat ??= event.chat_id;
      known.message = event.message_id;
      outcome.events.push(event);
      if (outcome.events.length === leave) break;
      if (outcome.events.length === abort) controller.abort();
    }
  } catch (error) {
    outcome.problem = problemOf(error);
  }
  return outcome;
}

function problemOf(error) {
  if (error instanceof Refused) {
    const { status, code, message, retryAfter, requestId, fields, details } = error;
    const told = { status, code, message, retry_after: retryAfter, request_id: requestId };
    return { kind: "Refused", ...told, fields: fields ?? {}, details: details ?? {} };
  }
  if (error instanceof ConnectionLost) return { kind: "ConnectionLost" };
  return { kind: error.name, message: error.message };
}

const outcomes = [];
for (const step of JSON.parse(operations)) {
  outcomes.push(await (Array.isArray(step) ? Promise.all(step.map(outcomeOf)) : outcomeOf(step)));
}
process.stdout.write(JSON.stringify(outcomes), () => process.exit(0));
