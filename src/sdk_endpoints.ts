import { SDK_CACHE_S } from "./limits.ts";
import { Problem } from "./problem.ts";

interface File {
  readonly text: string;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** Weak: the same for both encodings. */
  readonly etag: string;
}

/** What `deno task sdk` writes, by name; embedded in the compiled program. */
const FOLDER = new URL("../dist/sdk/", import.meta.url);
const CONTENT_TYPES = {
  "sdk.js": "text/javascript; charset=utf-8",
  "sdk.mjs": "text/javascript; charset=utf-8",
  "sdk.d.ts": "application/typescript; charset=utf-8",
} as const;
const ETAG_BYTES = 16;

async function read(name: string): Promise<File> {
  try {
    const text = await Deno.readTextFile(new URL(name, FOLDER));
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const zip = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    const gzipped = await new Response(zip).bytes();
    return { text, gzipped, etag: `W/"${new Uint8Array(digest, 0, ETAG_BYTES).toHex()}"` };
  } catch (cause) {
    throw new Problem("not_found", "The SDK is not built: run `deno task build`.", { cause });
  }
}

/** True where the caller's copy, by `If-None-Match` (RFC 9110, 13.1.2), is the current one. */
function isKnown(header: string | null, etag: string): boolean {
  const tags = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes(etag.slice("W/".length)) || tags.includes("*");
}

/** The handler of `GET /sdk.js`, `/sdk.mjs` or `/sdk.d.ts`; the file is read on first use. */
export function createSdkFile(
  name: keyof typeof CONTENT_TYPES,
): (exchange: { readonly request: Request }) => Promise<Response> {
  let file: File | undefined;
  return async ({ request }) => {
    file ??= await read(name);
    const headers = {
      "Content-Type": CONTENT_TYPES[name],
      "Cache-Control": `public, max-age=${SDK_CACHE_S}`,
      "ETag": file.etag,
      "Vary": "Accept-Encoding",
      // Pages that isolate themselves (COEP) may load it too.
      "Cross-Origin-Resource-Policy": "cross-origin",
      "X-Content-Type-Options": "nosniff",
      ...(name === "sdk.mjs" ? { "X-TypeScript-Types": "./sdk.d.ts" } : {}),
    };
    if (isKnown(request.headers.get("if-none-match"), file.etag)) {
      return new Response(null, { status: 304, headers });
    }
    return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/.test(
        request.headers.get("accept-encoding") ?? "",
      )
      ? new Response(file.gzipped, { headers: { ...headers, "Content-Encoding": "gzip" } })
      : new Response(file.text, { headers });
  };
}
