import { gzipSync } from "node:zlib";
import { Problem } from "../problem.ts";
import { hasCopy } from "./known_copy.ts";

/** A text file that is served plain or gzipped. */
export interface StaticFile {
  readonly text: string;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** The first bytes of the text's SHA-256, in hexadecimal digits. */
  readonly digest: string;
  /** Weak, since it is the same for both encodings. */
  readonly etag: string;
}

const DIGEST_BYTES = 16;

/** The smallest: with 9 each of our files is larger by up to 0.5 %. CompressionStream takes no level. */
const GZIP_LEVEL = 8;

/** Prepares a text for serving. */
export async function staticFile(text: string): Promise<StaticFile> {
  const bytes = new TextEncoder().encode(text);
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  const digest = new Uint8Array(hash, 0, DIGEST_BYTES).toHex();
  const gzipped = new Uint8Array(gzipSync(bytes, { level: GZIP_LEVEL }));
  return { text, gzipped, digest, etag: `W/"${digest}"` };
}

/** Reads a file that a build makes. Throws Problem `not_found` with the text `missing` if it does not exist. */
export async function readStaticFile(url: URL, missing: string): Promise<StaticFile> {
  try {
    return await staticFile(await Deno.readTextFile(url));
  } catch (cause) {
    throw new Problem("not_found", missing, { cause });
  }
}

/** Replies with a file: 304 if the caller has it already, gzipped if the caller accepts gzip. */
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
  if (hasCopy(request, file.etag)) return new Response(null, { status: 304, headers: all });
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/.test(
      request.headers.get("accept-encoding") ?? "",
    )
    ? new Response(file.gzipped, { headers: { ...all, "Content-Encoding": "gzip" } })
    : new Response(file.text, { headers: all });
}
