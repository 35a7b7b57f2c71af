const long = new WeakSet<Response>();

/**
 * Marks a reply that is written while it is read: its connection may send for as long as that takes,
 * while other replies are at hand, and have a time within which they must be taken.
 */
export function asLong(reply: Response): Response {
  long.add(reply);
  return reply;
}

/** Whether a reply is written while it is read. */
export function isLong(reply: Response): boolean {
  return long.has(reply);
}

/**
 * Returns the reply to a HEAD where that to a GET is written while it is read. Its empty body is a
 * stream: a null one is sent as `Content-Length: 0`, which tells that there is nothing to read.
 */
export function headOfLong(init: ResponseInit): Response {
  return new Response(ReadableStream.from([]), init);
}
