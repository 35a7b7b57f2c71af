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
