import { LIVE_RETRY_MS } from "../../limits.ts";
import { Problem } from "../../problem.ts";

/** A result, as the message that is sent. */
export type Update = ReturnType<typeof updateOf>;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");

/** Makes the message of a result. Its JSON has no line breaks, so it fits one `data` line. */
export function updateOf(etag: string, json: string) {
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

/** One open stream. */
export type Listener = ReturnType<typeof createListener>;

/**
 * Opens a stream that begins with `first`. A slow reader skips updates: only the latest waits.
 * @param leave called when the stream has ended, by its reader or by `end`
 */
export function createListener(
  first: Update,
  { expiresAtMs, assertHolds }: StreamTerms,
  now: () => number,
  leave: () => void,
) {
  let waiting: Update | null = null;
  let sentEtag: string | null = null;
  let wroteAtMs = 0;
  let isOver = false;
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

  /** Writes a message. @returns false if the one before has not been taken yet */
  function write(message: Uint8Array<ArrayBuffer>): boolean {
    if ((controller.desiredSize ?? 0) <= 0) return false;
    controller.enqueue(message);
    wroteAtMs = now();
    return true;
  }

  /** Sends an update, unless the same result was sent last. */
  function offer(update: Update): void {
    const isNews = update.etag !== sentEtag;
    const isSent = isNews && write(update.message);
    if (isSent) sentEtag = update.etag;
    waiting = isNews && !isSent ? update : null;
  }

  /** Sends a heartbeat after a silence of `heartbeatMs`. */
  function beat(heartbeatMs: number): void {
    // The absolute value, since the clock may be set back.
    if (Math.abs(now() - wroteAtMs) >= heartbeatMs) write(HEARTBEAT);
  }

  function end(): void {
    isOver = true;
    controller.close();
    leave();
  }

  /** Ends the stream if its token is no longer accepted. */
  async function endIfRefused(): Promise<void> {
    try {
      await assertHolds?.();
    } catch (error) {
      if (error instanceof Problem && error.status === 401 && !isOver) end();
    }
  }

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (begun) => {
      controller = begun;
      offer(first);
    },
    pull: () => {
      if (waiting !== null) offer(waiting);
    },
    cancel: () => {
      isOver = true;
      leave();
    },
  });
  return { stream, offer, beat, end, endIfRefused, isExpired: () => now() >= expiresAtMs };
}
