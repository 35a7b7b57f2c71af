import { LIVE_RETRY_MS } from "../../limits.ts";
import { Problem } from "../../problem.ts";

/** A result, as the message that is sent. */
export interface Update {
  readonly etag: string;
  readonly message: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");

/** Makes the message of a result. Its JSON has no line breaks, so it fits one `data` line. */
export function updateOf(etag: string, json: string): Update {
  const id = etag.replace(/^W\//, "").replaceAll('"', "");
  const text = `id: ${id}\nevent: live\nretry: ${LIVE_RETRY_MS}\ndata: ${json}\n\n`;
  return { etag, message: encoder.encode(text) };
}

/** How long a stream may stay open. */
export interface StreamTerms {
  readonly expiresAtMs: number;
  /** Throws a 401 if the token is no longer accepted, and another error if this cannot be checked. */
  readonly assertHolds?: () => Promise<void>;
}

/** One open stream. A slow reader skips updates: only the latest waits. */
export class Listener {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #terms: StreamTerms;
  readonly #now: () => number;
  readonly #leave: (listener: Listener) => void;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #waiting: Update | null = null;
  #sentEtag: string | null = null;
  #wroteAtMs = 0;
  #isOver = false;

  constructor(
    first: Update,
    terms: StreamTerms,
    now: () => number,
    leave: (listener: Listener) => void,
  ) {
    this.#terms = terms;
    this.#now = now;
    this.#leave = leave;
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        this.offer(first);
      },
      pull: () => {
        if (this.#waiting !== null) this.offer(this.#waiting);
      },
      cancel: () => {
        this.#isOver = true;
        this.#leave(this);
      },
    });
  }

  isExpired(): boolean {
    return this.#now() >= this.#terms.expiresAtMs;
  }

  /** Ends the stream if its token is no longer accepted. */
  async endIfRefused(): Promise<void> {
    try {
      await this.#terms.assertHolds?.();
    } catch (error) {
      if (error instanceof Problem && error.status === 401 && !this.#isOver) this.end();
    }
  }

  /** Sends an update, unless the same result was sent last. */
  offer(update: Update): void {
    const isNews = update.etag !== this.#sentEtag;
    const isSent = isNews && this.#write(update.message);
    if (isSent) this.#sentEtag = update.etag;
    this.#waiting = isNews && !isSent ? update : null;
  }

  /** Sends a heartbeat after a silence of `heartbeatMs`. */
  beat(heartbeatMs: number): void {
    // The absolute value, since the clock may be set back.
    if (Math.abs(this.#now() - this.#wroteAtMs) >= heartbeatMs) this.#write(HEARTBEAT);
  }

  end(): void {
    this.#isOver = true;
    this.#controller.close();
    this.#leave(this);
  }

  /** Writes a message. @returns false if the one before has not been taken yet */
  #write(message: Uint8Array<ArrayBuffer>): boolean {
    if ((this.#controller.desiredSize ?? 0) <= 0) return false;
    this.#controller.enqueue(message);
    this.#wroteAtMs = this.#now();
    return true;
  }
}
