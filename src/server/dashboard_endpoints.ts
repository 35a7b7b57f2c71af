import { readStaticFile, type StaticFile, staticFile, staticReply } from "../http/static_file.ts";
import { DASHBOARD_ASSET_CACHE_S } from "../limits.ts";
import { Problem } from "../problem.ts";

/** Holds the build of `src/dashboard`; embedded in the compiled program. */
const FOLDER = new URL("../../dist/dashboard/", import.meta.url);
const ASSETS = {
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
} as const;
export type DashboardAsset = keyof typeof ASSETS;

/** Matches the name of a program part that is loaded later; the name holds a digest of the content. */
const PART = /^[a-z_]+-[A-Z0-9]{8}\.js$/;
/** Matches the imports of the parts that the program needs to start. */
const NEEDED_PARTS = /\bfrom\s*"\.\/([a-z_]+-[A-Z0-9]{8}\.js)"/g;

/**
 * Returns the Content-Security-Policy: only the server's own files, without inline scripts and styles and
 * without other origins. Pictures that need a token come into the page as `blob:`.
 */
const policy = (ancestors: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(" ")}`,
  ].join("; ");

/** Escapes a text as the value of an attribute: a program's file may have any name. */
function attribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Shown until the program takes over the page, with the same markup (`Opening` in app.tsx), or for good if its files do
 * not arrive.
 */
const OPENING = '<div class="opening"><p role="status">Opening the dashboard</p>' +
  '<p class="opening-late">This takes long. Check the connection, then reload the page.</p></div>';

const page = (
  { basePath, footfall }: PageSettings,
  version: Readonly<Record<DashboardAsset, string>>,
  parts: readonly string[],
) =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="same-origin">
<meta name="footfall-base" content="${basePath}">
<meta name="footfall-command" content="${attribute(footfall)}">
<title>Footfall</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/assets/app.css?v=${version["app.css"]}">
${
    parts.map((part) => `<link rel="modulepreload" href="${basePath}/assets/${part}">\n`).join("")
  }<script type="module" src="${basePath}/assets/app.js?v=${version["app.js"]}"></script>
</head>
<body>
<div id="app">${OPENING}</div>
<noscript>The dashboard needs JavaScript. The same numbers come as JSON: ${basePath}/v1/openapi.json</noscript>
</body>
</html>
`;

/** Settings that the page needs from the server. */
export interface PageSettings {
  readonly basePath: string;
  /** The command line that starts this program, as the operator types it before a command. */
  readonly footfall: string;
}

interface Exchange {
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
}
type Handler = (exchange: Exchange) => Promise<Response>;

export interface DashboardPage {
  readonly page: Handler;
  /**
   * Serves the page of a share, which pages of `ancestors` may show in a frame; null: the share has ended,
   * and the same page says so. Whoever has the address can open it, so it is not sent on as a referrer.
   */
  readonly shared: (exchange: Exchange, ancestors: readonly string[] | null) => Promise<Response>;
  readonly asset: (name: DashboardAsset) => Handler;
  /** Serves the part of the program that the path's `:part` names. */
  readonly part: Handler;
}

/** Makes the handlers of the dashboard page and of its files; files are read on first use. */
export function createDashboard(settings: PageSettings): DashboardPage {
  const files = new Map<string, Promise<StaticFile>>();
  let html: StaticFile | undefined;
  async function fileOf(name: string): Promise<StaticFile> {
    const file = files.get(name) ??
      readStaticFile(new URL(name, FOLDER), "The dashboard is not built: run `deno task build`.");
    files.set(name, file);
    try {
      return await file;
    } catch (error) {
      files.delete(name);
      throw error;
    }
  }
  async function pageOf(): Promise<StaticFile> {
    const [script, style] = [await fileOf("app.js"), await fileOf("app.css")];
    const text = new TextDecoder().decode(script.plain);
    const parts = Array.from(text.matchAll(NEEDED_PARTS), ([, part]) => part!);
    const version = { "app.js": script.digest, "app.css": style.digest };
    html ??= await staticFile(page(settings, version, parts));
    return html;
  }
  return {
    async page({ request }) {
      return staticReply(await pageOf(), request, {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-cache",
        "Content-Security-Policy": policy([]),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "same-origin",
      });
    },
    async shared(_exchange, ancestors) {
      const { plain } = await pageOf();
      return new Response(plain, {
        status: ancestors === null ? 404 : 200,
        headers: {
          "Content-Type": "text/html; charset=utf-8",
          // The origins that may frame the page change with the share, while the page stays the same.
          "Cache-Control": "no-store",
          "Content-Security-Policy": policy(ancestors ?? []),
          "Referrer-Policy": "no-referrer",
          "X-Robots-Tag": "noindex",
        },
      });
    },
    asset: (name) => async ({ request, url }) => {
      const file = await fileOf(name);
      // The page names each file with its digest, so the content at such an address never changes.
      const isCurrent = url.searchParams.get("v") === file.digest;
      return staticReply(file, request, {
        "Content-Type": ASSETS[name],
        "Cache-Control": isCurrent
          ? `public, max-age=${DASHBOARD_ASSET_CACHE_S}, immutable`
          : "no-cache",
        "Cross-Origin-Resource-Policy": "same-origin",
      });
    },
    async part({ request, params }) {
      const name = params.part!;
      if (!PART.test(name)) throw new Problem("not_found", "The dashboard has no such file.");
      return staticReply(await fileOf(name), request, {
        "Content-Type": ASSETS["app.js"],
        "Cache-Control": `public, max-age=${DASHBOARD_ASSET_CACHE_S}, immutable`,
        "Cross-Origin-Resource-Policy": "same-origin",
      });
    },
  };
}
