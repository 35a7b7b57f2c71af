import { ServerUnreachable } from "./connection.ts";

/**
 * A reply's bytes to its end. Throws ServerUnreachable where it breaks off: a server that ends, or whose
 * database does not answer, can say no more by then.
 * @param what of which it is, as a sentence begins: `The archive`
 */
export async function* untilBroken(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  what: string,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      signal.throwIfAborted();
      bytes += chunk.length;
      yield chunk;
    }
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof TypeError)) throw cause;
    const message =
      `${what} broke off behind ${bytes} bytes: the server has ended, or its database ` +
      "does not answer. Try again.";
    throw new ServerUnreachable(message, { cause });
  }
}
