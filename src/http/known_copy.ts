import { TAGS_LENGTH_MAX } from "../limits.ts";

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

/** Whether `If-None-Match` has this ETag, by the weak comparison (RFC 9110, 13.1.2): the caller's copy is current. */
export function hasCopy({ headers }: Request, etag: string): boolean {
  // Cut, as no caller has that many copies, and splitting 400 KB of commas takes 80 ms.
  const tags = headers.get("if-none-match")?.slice(0, TAGS_LENGTH_MAX).split(",").map(opaque);
  return tags !== undefined && (tags.includes(opaque(etag)) || tags.includes("*"));
}

/** Whether a `PUT` must not replace anything: it has `If-None-Match: *` (RFC 9110, 13.1.2). */
export function isForNewOnly({ headers }: Request): boolean {
  return headers.get("if-none-match") === "*";
}
