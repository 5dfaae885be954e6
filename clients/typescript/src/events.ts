// The events of an answer, from the schema: a union that `event` tells apart, and in a `message_end`
// `finish_reason`. Types alone.

import type { components } from "./schema.js";

export type Schemas = components["schemas"];

/** `{event, data}` as it is framed → `{event, ...data}` as `ask` yields it. */
type Flat<Frame> = Frame extends { event: infer Name; data: infer Data }
  ? { event: Name } & Data
  : never;

export type AnswerEvent = Flat<Schemas["StreamEvent"]>;
export type MessageStart = Extract<AnswerEvent, { event: "message_start" }>;
export type Sources = Extract<AnswerEvent, { event: "sources" }>;
export type Delta = Extract<AnswerEvent, { event: "delta" }>;
export type MessageEnd = Extract<AnswerEvent, { event: "message_end" }>;

export type Source = Schemas["Source"];
export type Fragment = Schemas["Fragment"];
export type FinishReason = Schemas["FinishReason"];
export type StreamErrorCode = Schemas["StreamErrorCode"];

/** Why the server refused a request. UNKNOWN: what answered is no Fastrag site. */
export type Refusal = Schemas["ErrorResponse"]["error"] | { code: "UNKNOWN"; message: string };
export type RefusalCode = Refusal["code"];
