const long = new WeakSet<Response>();

/**
 * Marks a reply that is produced while it is read: its connection may send for as long as that takes, while
 * clients have a limited time to receive other replies.
 */
export function asLong(reply: Response): Response {
  long.add(reply);
  return reply;
}

/** Whether a reply is produced while it is read. */
export function isLong(reply: Response): boolean {
  return long.has(reply);
}

/**
 * Returns the reply to a HEAD whose GET has a long reply. Its empty body is a stream, because null would be sent
 * as `Content-Length: 0`, as if the GET had no body.
 */
export function headOfLong(init: ResponseInit): Response {
  return new Response(ReadableStream.from([]), init);
}
