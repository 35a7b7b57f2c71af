import { CONTENT_TYPE_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";

/** The names of UTF-8, as which bodies are read, and of its subset ASCII. */
const CHARSETS: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);
const PARAMETER = /;\s*([^\s;=]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;

/**
 * Whether a `Content-Type` header names one of `types` (in lower case). Parameters do not matter, except that
 * the charset must be UTF-8 or ASCII.
 */
export function isContentType(header: string, types: ReadonlySet<string>): boolean {
  // A longer one could make the expression look for the ends of quotes again and again.
  if (header.length > CONTENT_TYPE_LENGTH_MAX) return false;
  const [type = ""] = header.split(";", 1);
  if (!types.has(type.trim().toLowerCase())) return false;
  for (const [, name = "", quoted, plain = ""] of header.slice(type.length).matchAll(PARAMETER)) {
    if (name.toLowerCase() !== "charset") continue;
    if (!CHARSETS.has((quoted ?? plain).trim().toLowerCase())) return false;
  }
  return true;
}

/**
 * Throws `unsupported_media_type` (415) if a request states a type that is none of `types`.
 * @param accept those that the reply names
 */
export function assertContentType(
  { headers }: Request,
  types: ReadonlySet<string>,
  detail: string,
  accept: string,
): void {
  const type = headers.get("content-type")?.trim() ?? "";
  if (type === "" || isContentType(type, types)) return;
  throw new Problem("unsupported_media_type", detail, { headers: { "Accept": accept } });
}
