import { TAGS_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";

/** A text file as it is served: whole, or gzipped. */
export interface StaticFile {
  readonly text: string;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** Hexadecimal, of the text. */
  readonly digest: string;
  /** Weak: the same for both encodings. */
  readonly etag: string;
}

const DIGEST_BYTES = 16;

/** Prepares a text for serving. */
export async function staticFile(text: string): Promise<StaticFile> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const digest = new Uint8Array(hash, 0, DIGEST_BYTES).toHex();
  const zip = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return { text, gzipped: await new Response(zip).bytes(), digest, etag: `W/"${digest}"` };
}

/** Reads a file that a build makes. @throws Problem `not_found`, saying `missing`, where it is not there */
export async function readStaticFile(url: URL, missing: string): Promise<StaticFile> {
  try {
    return await staticFile(await Deno.readTextFile(url));
  } catch (cause) {
    throw new Problem("not_found", missing, { cause });
  }
}

/** True where the caller's copy, by `If-None-Match` (RFC 9110, 13.1.2), is the current one. */
function isKnown(header: string | null, etag: string): boolean {
  // Nobody has so many copies; a header of 400 KB of commas takes 80 ms to take apart.
  const tags =
    header?.slice(0, TAGS_LENGTH_MAX).split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes(etag.slice("W/".length)) || tags.includes("*");
}

/** The reply with a file's content: 304 to who has it, gzipped to who takes that. */
export function staticReply(
  file: StaticFile,
  request: Request,
  headers: Readonly<Record<string, string>>,
): Response {
  const all = {
    ...headers,
    "ETag": file.etag,
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
  };
  if (isKnown(request.headers.get("if-none-match"), file.etag)) {
    return new Response(null, { status: 304, headers: all });
  }
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/.test(
      request.headers.get("accept-encoding") ?? "",
    )
    ? new Response(file.gzipped, { headers: { ...all, "Content-Encoding": "gzip" } })
    : new Response(file.text, { headers: all });
}
