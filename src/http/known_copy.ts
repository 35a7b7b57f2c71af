import { TAGS_LENGTH_MAX } from "../limits.ts";

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

/** Whether the caller's copy, by `If-None-Match`, is the one with this ETag; both are compared weakly (RFC 9110, 13.1.2). */
export function hasCopy({ headers }: Request, etag: string): boolean {
  // No caller has that many copies, and splitting a header of 400 KB of commas takes 80 ms.
  const tags = headers.get("if-none-match")?.slice(0, TAGS_LENGTH_MAX).split(",").map(opaque);
  return tags !== undefined && (tags.includes(opaque(etag)) || tags.includes("*"));
}

/** Whether what is sent may replace nothing: `If-None-Match: *` of a `PUT` (RFC 9110, 13.1.2). */
export function isForNewOnly({ headers }: Request): boolean {
  return headers.get("if-none-match") === "*";
}
