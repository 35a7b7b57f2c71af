import { readStaticFile, type StaticFile, staticReply } from "../http/static_file.ts";
import { SDK_CACHE_S } from "../limits.ts";
import { Problem } from "../problem.ts";

/** Holds the build of `src/sdk`; embedded in the compiled program. */
const FOLDER = new URL("../../dist/sdk/", import.meta.url);
const CONTENT_TYPES = {
  "sdk.js": "text/javascript; charset=utf-8",
  "sdk.mjs": "text/javascript; charset=utf-8",
  "script.js": "text/javascript; charset=utf-8",
  "array.js": "text/javascript; charset=utf-8",
  "sdk-vitals.js": "text/javascript; charset=utf-8",
  "sdk.d.ts": "application/typescript; charset=utf-8",
} as const;

/** Makes the handler of a file of the SDK, which is read on first use. */
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
      // Lets pages that isolate themselves (COEP) load it too.
      "Cross-Origin-Resource-Policy": "cross-origin",
      ...(name === "sdk.mjs" ? { "X-TypeScript-Types": "./sdk.d.ts" } : {}),
    });
  };
}

/**
 * Matches the names of Plausible's script: with its options in the name, each behind a dot, or with a name
 * of the site's own (`pa-…`), which the script uses as its key.
 */
const SCRIPT_NAME = /^(?:(?:script|plausible)(?:\.[a-z-]+){0,20}|pa-[\w-]{1,100})\.js$/;

/** Matches the names of PostHog's script, with the parts built into it behind dots: `array.full.js`. */
const ARRAY_NAME = /^array(?:\.[a-z0-9-]+){0,20}\.js$/;

type NamedFile = (exchange: {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}) => Promise<Response>;

/** Makes the handler of one of our scripts under all names that another product's script may have. */
function createNamed(own: "script.js" | "array.js", names: RegExp): NamedFile {
  const script = createSdkFile(own);
  return async ({ request, params: { file = "" } }) => {
    if (names.test(file)) return await script({ request });
    throw new Problem("not_found", `There is ${own} here, and nothing else.`);
  };
}

/** Makes the handler of `GET /js/:file`: our script under the names of Plausible's. */
export function createPlausibleScript(): NamedFile {
  return createNamed("script.js", SCRIPT_NAME);
}

/** Makes the handler of `GET /static/:file`: our script under the names of PostHog's. */
export function createPosthogScript(): NamedFile {
  return createNamed("array.js", ARRAY_NAME);
}
