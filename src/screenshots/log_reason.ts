/**
 * Returns an error's message for the log: without the addresses in a browser's messages, as the path of a page
 * may contain a person's name.
 */
export function logReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, "[address]");
}
