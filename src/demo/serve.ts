import { parseArgs } from "node:util";
import { readControlFile } from "../commands/control_file.ts";
import { readEnvironment } from "../config.ts";
import { DAY_MS } from "../limits.ts";
import { typedDeno } from "../typed_command.ts";
import { demoPage, SHOP_SCRIPT, type Tag } from "./pages.ts";
import { PRODUCTS } from "./products.ts";
import { STYLE } from "./style.ts";

const ARRIVALS_SHOWN = 30;

function usage(deno: string): string {
  return `The demo shop needs a running server. Start one beside it, with the same DATA_DIR:

  ${deno} task start

With PostgreSQL, or a server elsewhere, name it and a public key:

  ${deno} task demo --server http://localhost:8000 --key pk_…`;
}

interface Demo extends Tag {
  /** Recent events of the default project; null without a token. */
  readonly recent: ((host: string) => Promise<Response>) | null;
}

interface StoredEvent {
  readonly name: string;
  readonly path: string | null;
  readonly url: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** One line of the shop's panel. */
function describe({ name, path, properties: { server: _, ...own } }: StoredEvent) {
  const known: Readonly<Record<string, string>> = {
    page_view: "",
    scroll: `${own.depthPx} px deep`,
    click: `${own.selector}${own.rage ? ", rage" : own.dead ? ", dead" : ""}`,
  };
  return { name, about: `${path} ${known[name] ?? JSON.stringify(own)}` };
}

/** With the token of the server whose control file lies in `dataDir`: a key for one day. */
async function withToken(dataDir: string): Promise<Demo | null> {
  const control = await readControlFile(dataDir);
  if (control === null) return null;
  const { url: server, token } = control;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const reply = await fetch(`${server}/v1/projects/prj_default/keys`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      kind: "public",
      expiresAt: new Date(Date.now() + DAY_MS).toISOString(),
    }),
  }).catch(() => null);
  if (reply?.status !== 201) {
    await reply?.body?.cancel();
    return null;
  }
  const { key: apiKey } = await reply.json();
  return {
    server,
    apiKey,
    showsArrivals: true,
    async recent(host) {
      const query = new URLSearchParams({
        project: "prj_default",
        bots: "include",
        limit: String(ARRIVALS_SHOWN),
      });
      const stored = await fetch(`${server}/v1/events?${query}`, { headers });
      const { events }: { events: StoredEvent[] } = await stored.json();
      return Response.json(events.filter(({ url }) => url?.startsWith(host)).map(describe));
    },
  };
}

/** The demo shop, as a request handler. */
export function createShop(demo: Demo): (request: Request) => Response | Promise<Response> {
  const text = (body: string, type: string, status = 200) =>
    new Response(body, { status, headers: { "Content-Type": `${type}; charset=utf-8` } });
  return (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/style.css") return text(STYLE, "text/css");
    if (pathname === "/shop.js") return text(SHOP_SCRIPT, "text/javascript");
    if (pathname === "/price-list.csv") {
      return text(PRODUCTS.map(({ name, price }) => `${name},${price}\n`).join(""), "text/csv");
    }
    if (pathname === "/arrivals" && demo.recent !== null) {
      return demo.recent(origin).catch(() => text("The server does not answer", "text/plain", 502));
    }
    const page = demoPage(pathname, demo);
    return page === null ? text("No such page", "text/plain", 404) : text(page, "text/html");
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      server: { type: "string", default: "http://localhost:8000" },
      key: { type: "string" },
      port: { type: "string", default: "8001" },
    },
  });
  const { key, server } = values;
  const demo = key === undefined
    ? await withToken(readEnvironment().DATA_DIR || "./data")
    : { server, apiKey: key, showsArrivals: false, recent: null };
  if (demo === null) {
    console.error(usage(typedDeno(readEnvironment())));
    Deno.exit(1);
  }
  Deno.serve({
    port: Number(values.port),
    onListen: ({ port }) =>
      console.log(
        `The demo shop is open at http://localhost:${port} (events go to ${demo.server})`,
      ),
  }, createShop(demo));
}
