import { readStaticFile, type StaticFile, staticReply } from "../http/static_file.ts";
import { SDK_CACHE_S } from "../limits.ts";
import { Problem } from "../problem.ts";

/** What the build makes of `src/sdk`, by name; embedded in the compiled program. */
const FOLDER = new URL("../../dist/sdk/", import.meta.url);
const CONTENT_TYPES = {
  "sdk.js": "text/javascript; charset=utf-8",
  "sdk.mjs": "text/javascript; charset=utf-8",
  "script.js": "text/javascript; charset=utf-8",
  "array.js": "text/javascript; charset=utf-8",
  "sdk-vitals.js": "text/javascript; charset=utf-8",
  "sdk.d.ts": "application/typescript; charset=utf-8",
} as const;

/** The handler of a file that the build makes of `src/sdk`, which is read on first use. */
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

/** What PostHog calls its script, with what was built into it behind dots: `array.full.js`. */
const ARRAY_NAME = /^array(?:\.[a-z0-9-]+){0,20}\.js$/;

type NamedFile = (exchange: {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}) => Promise<Response>;

/** One of our scripts, under each of the names that another product's may have. */
function createNamed(own: "script.js" | "array.js", names: RegExp): NamedFile {
  const script = createSdkFile(own);
  return async ({ request, params: { file = "" } }) => {
    if (names.test(file)) return await script({ request });
    throw new Problem("not_found", `There is ${own} here, and nothing else.`);
  };
}

/** The handler of `GET /js/:file`: our script by the names of Plausible's. */
export function createPlausibleScript(): NamedFile {
  return createNamed("script.js", SCRIPT_NAME);
}

/** The handler of `GET /static/:file`: our script by the names of PostHog's. */
export function createPosthogScript(): NamedFile {
  return createNamed("array.js", ARRAY_NAME);
}
