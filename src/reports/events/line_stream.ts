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
  meant: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const bytesOf = (some: Lines) => typeof some === "string" ? encoder.encode(some) : some;
  if (first.done) return;
  yield bytesOf(first.value);
  try {
    for await (const some of lines) yield bytesOf(some);
  } catch (error) {
    const told = meant(error);
    if (told instanceof Problem) yield encoder.encode(`${problemText(told, requestId)}\n`);
    throw told;
  }
}

/**
 * Returns a reply with these lines as its body, written as fast as its reader takes them. A failure before
 * the first line is thrown, so that the status can tell it. Later, a Problem becomes the last line and the
 * connection is cut, so that nobody mistakes the received lines for all of them.
 * @param meant maps an error to the one that the caller is told
 */
export async function lineReply(
  lines: AllLines,
  requestId: string,
  meant: (error: unknown) => unknown,
): Promise<Response> {
  const first = await lines.next().catch((error) => {
    throw meant(error);
  });
  const all = encoded(first, lines, requestId, meant);
  const taken: AsyncIterator<Uint8Array> = {
    next: () => all.next(),
    // Ends `lines` by itself: where nobody took the first line, `all` never began, and ending it would not
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
