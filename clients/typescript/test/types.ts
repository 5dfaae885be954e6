// Holds what the compiler has to know; compiled by `npm run check`, never run. A line under
// `@ts-expect-error` has to be refused.

import {
  type AnswerEvent,
  Client,
  ConnectionLost,
  type FinishReason,
  Refused,
  type Source,
  type StreamErrorCode,
} from "../src/index.js";
import type { components, paths } from "../src/schema.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Fact extends true>(..._: Fact[]): void => {};
const never = (value: never): never => value;

holds<Equal<AnswerEvent["event"], "message_start" | "sources" | "delta" | "message_end">>();
holds<Equal<FinishReason, "stop" | "length" | "error" | "interrupted">>();

export function onTheEventName(event: AnswerEvent): string {
  // @ts-expect-error  not every event has text
  event.delta;
  switch (event.event) {
    case "message_start":
      // @ts-expect-error  sources come later
      event.sources;
      return event.chat_id + event.user_message_id + event.message_id;
    case "sources":
      holds<Equal<typeof event.sources, Source[]>>();
      return event.sources.map((source) => source.site_name ?? source.title).join();
    case "delta":
      // @ts-expect-error  the one kind of delta is text
      event.delta.type === "image";
      return event.delta.text;
    case "message_end":
      return onTheFinishReason(event);
    // @ts-expect-error  there is no such event
    case "message_stop":
    default:
      return never(event);
  }
}

function onTheFinishReason(end: AnswerEvent & { event: "message_end" }): string {
  // @ts-expect-error  only a failed answer has an error
  end.error;
  switch (end.finish_reason) {
    case "error":
      holds<Equal<typeof end.error.code, StreamErrorCode>>();
      return onTheStreamErrorCode(end.error.code);
    case "stop":
    case "length":
    case "interrupted":
      // @ts-expect-error  this one did not fail
      end.error;
      return end.finish_reason;
    default:
      return never(end);
  }
}

function onTheStreamErrorCode(code: StreamErrorCode): string {
  switch (code) {
    case "TIMEOUT":
    case "SERVICE_UNAVAILABLE":
      return "again";
    case "CONTEXT_TOO_LONG":
      return "shorter";
    case "MODEL_ERROR":
    case "INTERNAL_ERROR":
      return "sorry";
    default:
      return never(code);
  }
}

export function onTheRefusalCode(error: unknown): string {
  if (error instanceof ConnectionLost) return error.message;
  if (!(error instanceof Refused)) throw error;
  holds<Equal<typeof error.retryAfter, number | null>>();
  // @ts-expect-error  there is no such code
  if (error.code === "TOO_BUSY") return "";
  // @ts-expect-error  not every refusal is about fields
  error.refusal.fields;
  const { refusal } = error;
  if (refusal.code === "VALIDATION_ERROR") return Object.values(refusal.fields).flat().join();
  // @ts-expect-error  VALIDATION_ERROR is dealt with
  if (refusal.code === "VALIDATION_ERROR") return "";
  if (refusal.code === "CHAT_BUSY") return refusal.details?.message_id ?? refusal.message;
  // @ts-expect-error  only a busy chat has details
  refusal.details;
  return refusal.message;
}

// The generated types alone narrow as well: frames, and the codes that a route can answer with.

type Frame = components["schemas"]["StreamEvent"];
type Asked = paths["/api/chats"]["post"]["responses"];
holds<Equal<Asked[200]["content"]["text/event-stream"], Frame>>();

export function onAFrame(frame: Frame): string {
  if (frame.event !== "message_end") return frame.event;
  // @ts-expect-error  only a failed answer has an error
  frame.data.error;
  return frame.data.finish_reason === "error" ? frame.data.error.code : frame.data.finish_reason;
}

export function onAConflict({ error }: Asked[409]["content"]["application/json"]): string {
  // @ts-expect-error  a new chat is not full
  if (error.code === "CHAT_FULL") return "";
  return error.code === "CHAT_BUSY" ? (error.details?.chat_id ?? "") : error.message;
}

export async function everyCallIsTyped(client: Client): Promise<void> {
  for await (const event of client.ask("Why?")) onTheEventName(event);
  // @ts-expect-error  a question is text
  client.ask({ content: "Why?" });
  // @ts-expect-error  a rating is up or down
  await client.rate("c", "m", { rating: "sideways" });
  const chat = await client.chat("c");
  // @ts-expect-error  a question has no sources
  chat.messages[0]?.sources.length;
  holds<Equal<(typeof chat.messages)[number]["role"], "user" | "assistant">>();
}
