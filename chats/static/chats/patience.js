// Bounds each wait for the server, and passes on the caller's abort. Works in browsers and in Node.
import { ConnectionLost } from "./errors.js";
export class Patience {
    #controller = new AbortController();
    #milliseconds;
    #caller;
    constructor(milliseconds, caller) {
        this.#milliseconds = milliseconds;
        this.#caller = caller;
        if (caller?.aborted)
            this.#passOn();
        else
            caller?.addEventListener("abort", this.#passOn);
    }
    /** For fetch: aborted by the caller, or where a wait was too long. */
    get signal() {
        return this.#controller.signal;
    }
    /** One wait. Throws ConnectionLost, or the caller's reason. */
    async during(step) {
        this.signal.throwIfAborted();
        const timer = setTimeout(() => this.#controller.abort(new ConnectionLost(undefined, "The server fell silent.")), this.#milliseconds);
        try {
            return await step();
        }
        catch (error) {
            this.signal.throwIfAborted();
            throw new ConnectionLost(error);
        }
        finally {
            clearTimeout(timer);
        }
    }
    end() {
        this.#caller?.removeEventListener("abort", this.#passOn);
    }
    #passOn = () => this.#controller.abort(this.#caller?.reason);
}
