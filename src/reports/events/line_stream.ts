import { problemText } from "../../http/reply.ts";
import { Problem } from "../../problem.ts";

/** Whole lines, as text or in UTF-8. */
export type Lines = string | Uint8Array;
type AllLines = AsyncGenerator<Lines, void>;

/** Yields the lines in UTF-8, `first` first. A Problem becomes the last line and is then thrown. */
async function* encoded(
  first: IteratorResult<Lines, void>,
  lines: AllLines,
  requestId: string,
  failureOf: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const bytesOf = (some: Lines) => typeof some === "string" ? encoder.encode(some) : some;
  if (first.done) return;
  yield bytesOf(first.value);
  try {
    for await (const some of lines) yield bytesOf(some);
  } catch (error) {
    const failure = failureOf(error);
    if (failure instanceof Problem) yield encoder.encode(`${problemText(failure, requestId)}\n`);
    throw failure;
  }
}

/**
 * Returns a reply with these lines as its body, written as fast as its reader takes them. A failure before
 * the first line is thrown, so that the reply has its status. Later, a Problem becomes the last line and the
 * connection is cut, so that nobody takes the received lines for all.
 * @param failureOf maps an error to the one to report
 */
export async function lineReply(
  lines: AllLines,
  requestId: string,
  failureOf: (error: unknown) => unknown,
): Promise<Response> {
  const first = await lines.next().catch((error) => {
    throw failureOf(error);
  });
  const all = encoded(first, lines, requestId, failureOf);
  const taken: AsyncIterator<Uint8Array> = {
    next: () => all.next(),
    // `lines` is ended separately: if nobody read the first line, `all` never began, and ending it does not
    // end `lines`.
    async return() {
      await all.return(undefined);
      await lines.return();
      return { done: true, value: undefined };
    },
  };
  return new Response(ReadableStream.from({ [Symbol.asyncIterator]: () => taken }), {
    headers: { "Content-Type": "application/x-ndjson", "Cache-Control": "no-store" },
  });
}
