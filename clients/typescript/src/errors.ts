// What can go wrong with a request, beside an abort by the caller. Works in browsers and in Node.

import type { Refusal, RefusalCode } from "./events.js";

type Fields = Record<string, string[]>;
type Details = Record<string, string>;

/** The server refused the request before any event. `refusal.code` tells its shapes apart. */
export class Refused extends Error {
  readonly status: number;
  readonly refusal: Refusal;
  /** Seconds to wait before the next try, where the server said so. */
  readonly retryAfter: number | null;
  /** Names the request in the server's log. */
  readonly requestId: string | null;

  constructor(
    status: number,
    refusal: Refusal,
    retryAfter: number | null = null,
    requestId: string | null = null,
  ) {
    super(refusal.message);
    this.name = "Refused";
    this.status = status;
    this.refusal = refusal;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  get code(): RefusalCode {
    return this.refusal.code;
  }

  /** With VALIDATION_ERROR: what is wrong, by field. */
  get fields(): Fields | null {
    return this.refusal.code === "VALIDATION_ERROR" ? this.refusal.fields : null;
  }

  /** With CHAT_BUSY, to a repeat of its request: the ids of the answer that is being written. */
  get details(): Details | null {
    return this.refusal.code === "CHAT_BUSY" ? (this.refusal.details ?? null) : null;
  }
}

/**
 * The network failed, the server fell silent, or the stream ended before `message_end`. The question
 * may have arrived: before asking it again, look at the chat, or repeat it with its idempotency key.
 */
export class ConnectionLost extends Error {
  constructor(cause?: unknown, message = "The connection was lost.") {
    super(message, { cause });
    this.name = "ConnectionLost";
  }
}
