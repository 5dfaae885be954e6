// What can go wrong with a request, beside an abort by the caller. Works in browsers and in Node.
/** The server refused the request before any event. `refusal.code` tells its shapes apart. */
export class Refused extends Error {
    status;
    refusal;
    /** Seconds to wait before the next try, where the server said so. */
    retryAfter;
    /** Names the request in the server's log. */
    requestId;
    constructor(status, refusal, retryAfter = null, requestId = null) {
        super(refusal.message);
        this.name = "Refused";
        this.status = status;
        this.refusal = refusal;
        this.retryAfter = retryAfter;
        this.requestId = requestId;
    }
    get code() {
        return this.refusal.code;
    }
    /** With VALIDATION_ERROR: what is wrong, by field. */
    get fields() {
        return this.refusal.code === "VALIDATION_ERROR" ? this.refusal.fields : null;
    }
    /** With CHAT_BUSY, to a repeat of its request: the ids of the answer that is being written. */
    get details() {
        return this.refusal.code === "CHAT_BUSY" ? (this.refusal.details ?? null) : null;
    }
}
/**
 * The network failed, the server fell silent, or the stream ended before `message_end`. The question
 * may have arrived: before asking it again, look at the chat, or repeat it with its idempotency key.
 */
export class ConnectionLost extends Error {
    constructor(cause, message = "The connection was lost.") {
        super(message, { cause });
        this.name = "ConnectionLost";
    }
}
