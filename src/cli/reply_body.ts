import { ServerUnreachable } from "./connection.ts";

/**
 * Yields all bytes of a reply. Throws ServerUnreachable if it breaks off: the server has ended, or its database
 * does not answer, and the status of the reply has been sent already.
 * @param what the content of the reply, as the beginning of a sentence: `The archive`
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
      `${what} broke off after ${bytes} bytes: the server has ended, or its database ` +
      "does not answer. Try again.";
    throw new ServerUnreachable(message, { cause });
  }
}
