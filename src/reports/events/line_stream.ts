import { problemText } from "../../http/reply.ts";
import { Problem } from "../../problem.ts";

/** Whole lines: as text, or in UTF-8. */
export type Lines = string | Uint8Array;
type AllLines = AsyncGenerator<Lines, void>;

/** The lines behind the first, in UTF-8. A Problem becomes the last of them, and then it fails. */
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
 * The reply whose body are these lines, written as its reader takes them. What fails before the first of
 * them is thrown, so that the status can tell. Later, a Problem is the last line, and the connection
 * breaks off behind it, so that nobody takes what came for all of it.
 * @param meant what an error means to the caller
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
    // Also where nobody took even the first: what never began would not end either.
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
