/**
 * What an error says, fit for the log: without the addresses that a browser's messages name, as the
 * path of a page may hold somebody's name.
 */
export function logReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, "[address]");
}
