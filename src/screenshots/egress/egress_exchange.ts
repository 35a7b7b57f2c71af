import {
  EGRESS_ANSWER_HEAD_BYTES_MAX,
  EGRESS_INTERIM_ANSWERS_MAX,
  EGRESS_LINGER_MS_MAX,
} from "../capture_limits.ts";
import { type EgressSocket, withinDeadline } from "./egress_socket.ts";
import {
  ANSWER_HEAD_END,
  type EgressAnswer,
  type EgressRequest,
  parseAnswerHead,
} from "./request_head.ts";

/** The two connections of a request or tunnel. */
export interface Passage {
  /** The browser. */
  readonly client: EgressSocket;
  /** The site's server. */
  readonly upstream: EgressSocket;
  readonly idleMsMax: number;
  /** Aborts when the proxy ends; the connections are closed then. */
  readonly signal: AbortSignal;
  /** Called with the number of bytes before they are forwarded. Throws if they must not be. */
  readonly count: (bytes: number) => void;
}

/** Ends both connections once nothing has been forwarded for `idleMsMax`. */
class IdleEnd implements Disposable {
  readonly #passage: Passage;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(passage: Passage) {
    this.#passage = passage;
    this.#wind();
  }

  /** Throws what `count` throws. */
  readonly count = (bytes: number): void => {
    this.#passage.count(bytes);
    this.#wind();
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #wind(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => close(this.#passage), this.#passage.idleMsMax);
  }
}

function close({ client, upstream }: Passage): void {
  client.close();
  upstream.close();
}

/**
 * Tells the browser that its tunnel is open, and forwards bytes in both directions until both sides have ended,
 * one has failed, or both have been silent for `idleMsMax`. Closes both; never rejects.
 */
export async function passTunnel(passage: Passage): Promise<void> {
  using idle = new IdleEnd(passage);
  const { client, upstream } = passage;
  const oneWay = async (from: EgressSocket, to: EgressSocket) => {
    try {
      await pass(from, to, idle.count);
      await to.endWriting();
    } catch {
      close(passage);
    }
  };
  try {
    await client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    await Promise.all([oneWay(client, upstream), oneWay(upstream, client)]);
  } catch {
    // The browser has closed the connection.
  } finally {
    close(passage);
  }
}

/**
 * Forwards one request and its response. Anything else that either side sends is discarded, so that every request
 * is checked by its host. Closes both; never rejects.
 * @param unanswered called if there is no response, while the browser can still be sent one
 */
export async function passRequest(
  passage: Passage,
  request: EgressRequest,
  unanswered: () => Promise<void>,
): Promise<void> {
  using idle = new IdleEnd(passage);
  const { client, upstream } = passage;
  let sending: Promise<void> | undefined;
  try {
    const hasHead = await passOn(request.head, upstream, idle.count).then(() => true, () => false);
    if (hasHead) sending = send(passage, request.bodyBytes, idle.count);
    const answer = hasHead ? await readAnswer(passage, request.method, idle.count) : null;
    if (answer === null) await unanswered();
    else {
      await passOn(answer.head, client, idle.count);
      await pass(upstream, client, idle.count, answer.bodyBytes ?? Infinity);
      await client.endWriting();
      upstream.close();
      // If the connection were closed while the browser is still sending, it could lose the rest of the response.
      await withinDeadline(EGRESS_LINGER_MS_MAX, passage.signal, async () => await sending);
    }
  } catch {
    // One side has closed its connection, or the capture has reached its limit.
  } finally {
    close(passage);
    await sending;
  }
}

/**
 * Forwards the body, and then reads and discards what the browser sends, to notice when it closes the connection.
 * Never rejects.
 */
async function send(passage: Passage, bytes: number, count: (bytes: number) => void) {
  const { client, upstream } = passage;
  try {
    await pass(client, upstream, count, bytes);
  } catch {
    // A server may answer and stop reading before it has the whole body.
  }
  try {
    for (let chunk = await client.read(); chunk !== null; chunk = await client.read()) {
      count(chunk.length);
    }
    await upstream.endWriting();
  } catch {
    // The exchange ends with its response, or by the idle limit.
  }
}

/** Returns the final response, after forwarding interim ones; null: there is none. Throws if the browser is gone. */
async function readAnswer(
  passage: Passage,
  method: string,
  count: (bytes: number) => void,
): Promise<EgressAnswer | null> {
  for (let i = 0; i <= EGRESS_INTERIM_ANSWERS_MAX; i++) {
    const text = await passage.upstream.readHead(ANSWER_HEAD_END, EGRESS_ANSWER_HEAD_BYTES_MAX)
      .catch(() => null);
    const answer = text === null ? null : parseAnswerHead(text, method);
    if (answer === null || !answer.isInterim) return answer;
    await passOn(answer.head, passage.client, count);
  }
  return null;
}

async function passOn(head: string, to: EgressSocket, count: (bytes: number) => void) {
  count(head.length);
  await to.write(head);
}

/** Forwards bytes, up to `bytesMax` or the end, as fast as the slower side allows. */
async function pass(
  from: EgressSocket,
  to: EgressSocket,
  count: (bytes: number) => void,
  bytesMax = Infinity,
): Promise<void> {
  let left = bytesMax;
  while (left > 0) {
    const chunk = await from.read();
    if (chunk === null) return;
    const bytes = chunk.subarray(0, left);
    count(bytes.length);
    await to.write(bytes);
    left -= bytes.length;
  }
}
