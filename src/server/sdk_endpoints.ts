import { readStaticFile, type StaticFile, staticReply } from "../http/static_file.ts";
import { SDK_CACHE_S } from "../limits.ts";
import { Problem } from "../problem.ts";

/** What the build makes of `src/sdk`, by name; embedded in the compiled program. */
const FOLDER = new URL("../../dist/sdk/", import.meta.url);
const CONTENT_TYPES = {
  "sdk.js": "text/javascript; charset=utf-8",
  "sdk.mjs": "text/javascript; charset=utf-8",
  "script.js": "text/javascript; charset=utf-8",
  "sdk-vitals.js": "text/javascript; charset=utf-8",
  "sdk.d.ts": "application/typescript; charset=utf-8",
} as const;

/** The handler of `GET /sdk.js`, `/sdk.mjs`, `/sdk.d.ts`, `/script.js` or `/sdk-vitals.js`; the file is read on first use. */
export function createSdkFile(
  name: keyof typeof CONTENT_TYPES,
): (exchange: { readonly request: Request }) => Promise<Response> {
  let file: StaticFile | undefined;
  return async ({ request }) => {
    file ??= await readStaticFile(
      new URL(name, FOLDER),
      "The SDK is not built: run `deno task build`.",
    );
    return staticReply(file, request, {
      "Content-Type": CONTENT_TYPES[name],
      "Cache-Control": `public, max-age=${SDK_CACHE_S}`,
      // Pages that isolate themselves (COEP) may load it too.
      "Cross-Origin-Resource-Policy": "cross-origin",
      ...(name === "sdk.mjs" ? { "X-TypeScript-Types": "./sdk.d.ts" } : {}),
    });
  };
}

/**
 * What Plausible calls its script: its options stand in the name, each behind a dot; or the name is
 * the site's own (`pa-…`), which the script takes for its key.
 */
const SCRIPT_NAME = /^(?:(?:script|plausible)(?:\.[a-z-]+){0,20}|pa-[\w-]{1,100})\.js$/;

/** The handler of `GET /js/:file`: our script, under each of the names that Plausible's may have. */
export function createPlausibleScript(): (exchange: {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}) => Promise<Response> {
  const script = createSdkFile("script.js");
  return async ({ request, params: { file = "" } }) => {
    if (SCRIPT_NAME.test(file)) return await script({ request });
    throw new Problem("not_found", "There is script.js here, and nothing else.");
  };
}
