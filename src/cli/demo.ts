import { SHOP_ORIGIN, SHOP_PORT } from "../demo/shop.ts";
import type { Tag } from "../demo/site/pages.ts";
import { type Arrivals, createShop } from "../demo/site/shop_site.ts";
import { type PresentVisit, simulateVisits } from "../demo/visitors/present.ts";
import { headOf } from "../http/direct_client.ts";
import { pause } from "../turns/pause.ts";
import { type Call, type Command, UsageMistake } from "./command.ts";
import { type Connection, ServerUnreachable, withConnection } from "./connection.ts";
import { provideDemoProject } from "./demo_project.ts";
import { sendBatch, withTemporaryKey } from "./event_sender.ts";

const ARRIVALS_SHOWN = 30;
const ARRIVALS_READ = 200;
const PORT_MAX = 65_535;

interface StoredEvent {
  readonly name: string;
  readonly path: string | null;
  readonly anonymousId: string | null;
  readonly properties: Readonly<Record<string, unknown>> & {
    readonly server: { readonly ingestedAt: string };
  };
}

/** Describes an event as one line of the shop's panel. */
function describe({ name, path, properties: { server: _, ...own } }: StoredEvent) {
  const known: Readonly<Record<string, string>> = {
    page_view: "",
    scroll: `${own.depthPx} px deep`,
    click: `${own.selector}${own.rage ? ", rage" : own.dead ? ", dead" : ""}`,
  };
  return { name, about: `${path} ${known[name] ?? JSON.stringify(own)}` };
}

/** Reads the events stored since `sinceMs`, without those of the invented visitors. */
function arrivalsOf(
  connection: Connection,
  project: string,
  invented: ReadonlySet<string>,
  sinceMs: number,
): Arrivals {
  const query = new URLSearchParams({ project, bots: "include", limit: String(ARRIVALS_READ) });
  return async () => {
    const reply = await connection.fetch(`/v1/events?${query}`);
    const { events }: { events: StoredEvent[] } = await reply.json();
    const own = events.filter(({ anonymousId, properties: { server } }) =>
      !invented.has(anonymousId ?? "") && Date.parse(server.ingestedAt) >= sinceMs
    );
    return Response.json(own.slice(0, ARRIVALS_SHOWN).map(describe));
  };
}

/** Serves the shop until the user asks to stop. */
async function openShop(call: Call, tag: Tag, arrivals: Arrivals): Promise<void> {
  const port = call.options.integer("port", 0, PORT_MAX) ?? SHOP_PORT;
  const server = Deno.serve({
    port,
    signal: call.signal,
    onListen: (at) =>
      call.print.result(
        { url: `http://localhost:${at.port}`, server: tag.server },
        () => `The demo shop is open at http://localhost:${at.port}; events go to ${tag.server}.\n`,
      ),
  }, createShop(tag, arrivals));
  await server.finished;
}

async function assertAnswers({ url }: Connection, footfall: string): Promise<void> {
  if ((await headOf(`${url}/healthz`))?.ok) return;
  throw new ServerUnreachable(
    `No server answers at ${url}. Start one beside the demo shop, with the same settings: ` +
      `${footfall} serve`,
  );
}

/** Opens the shop of the demo project, and simulates visitors in it. */
async function openDemo(call: Call, connection: Connection): Promise<void> {
  await assertAnswers(connection, call.config.footfallHere);
  const { now, signal } = call;
  const project = await provideDemoProject(connection);
  const invented = new Set<string>();
  await withTemporaryKey(connection, project, "footfall demo", now(), async (key) => {
    const send = async ({ address, userAgent, anonymousId, events }: PresentVisit) => {
      invented.add(anonymousId);
      const body = JSON.stringify({ events });
      await sendBatch(connection, key, { address, userAgent }, body, signal)
        .catch((error) => {
          if (!signal.aborted) throw error;
        });
    };
    const tag = { server: connection.url, apiKey: key, showsArrivals: true };
    const options = { origin: SHOP_ORIGIN, now, pause: (ms: number) => pause(ms, signal), signal };
    await Promise.all([
      openShop(call, tag, arrivalsOf(connection, project, invented, now())),
      simulateVisits({ ...options, send }),
    ]);
  });
}

async function demo(call: Call): Promise<void> {
  const server = call.options.text("server");
  const key = call.options.text("key");
  if ((server === null) !== (key === null)) {
    throw new UsageMistake("Give --server and --key together, or neither.");
  }
  if (server !== null && key !== null) {
    const tag = { server: server.replace(/\/$/, ""), apiKey: key, showsArrivals: false };
    return await openShop(call, tag, null);
  }
  await withConnection(call, (connection) => openDemo(call, connection));
}

export const DEMO_COMMAND: Command = {
  name: "demo",
  summary: "Open the demo shop: a small site to click around in",
  usage: "footfall demo [options]",
  notes:
    "It reports to the running server, into prj_demo, and a few invented people walk about in it.\n" +
    "With --server and --key it reports to a server elsewhere, and nobody else is there.",
  wordsMax: 0,
  options: {
    port: {
      type: "string",
      placeholder: "PORT",
      default: String(SHOP_PORT),
      meaning: "where to open it; captures are taken at the default one",
    },
    server: {
      type: "string",
      placeholder: "URL",
      default: "the running server",
      meaning: "address of a server elsewhere",
    },
    key: {
      type: "string",
      placeholder: "KEY",
      default: "one that ends with the command",
      meaning: "public key of a project there",
    },
  },
  example: "footfall demo",
  run: demo,
};
