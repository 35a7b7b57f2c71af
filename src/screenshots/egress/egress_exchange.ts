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

/** Two connections that belong together. */
export interface Passage {
  /** The browser. */
  readonly client: EgressSocket;
  /** The site's server. */
  readonly upstream: EgressSocket;
  readonly idleMsMax: number;
  /** Aborts when the proxy ends; the connections are closed then. */
  readonly signal: AbortSignal;
  /** Told of bytes before they are passed on. Throws where they must not be. */
  readonly count: (bytes: number) => void;
}

/** Ends both connections once nothing has passed between them for `idleMsMax`. */
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
 * Tells the browser that its tunnel is open, and passes bytes both ways until both sides have ended,
 * one has broken, or neither has said anything for `idleMsMax`. Closes both; never rejects.
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
    // The browser has left.
  } finally {
    close(passage);
  }
}

/**
 * Passes one request on and its answer back; what either side says beyond them goes nowhere, so a
 * connection carries nothing that was not asked for by name. Closes both; never rejects.
 * @param unanswered called where no answer came, while the browser can still be told
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
      // Closed while it still sends, the browser would lose what it has not read yet.
      await withinDeadline(EGRESS_LINGER_MS_MAX, passage.signal, async () => await sending);
    }
  } catch {
    // One side has left, or no more may pass.
  } finally {
    close(passage);
    await sending;
  }
}

/**
 * Passes the body on, and then takes what else the browser says so that its leaving is noticed.
 * Never rejects.
 */
async function send(passage: Passage, bytes: number, count: (bytes: number) => void) {
  const { client, upstream } = passage;
  try {
    await pass(client, upstream, count, bytes);
  } catch {
    // A server may answer, and hear no more, before it has read everything.
  }
  try {
    for (let chunk = await client.read(); chunk !== null; chunk = await client.read()) {
      count(chunk.length);
    }
    await upstream.endWriting();
  } catch {
    // What ends the exchange is its answer, or the silence after it.
  }
}

/** The answer itself, after the interim ones; null: none came. Throws when the browser has left. */
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

/** Bytes from one side to the other, up to `bytesMax` or the end. The slower side sets the pace. */
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
