/**
 * Ingestion with the projection keeping pace: events as fast as they are taken for so long, then as
 * long as it takes until each is counted. The rate of both together is what a server can take for ever.
 */
import { SignJWT } from "jose";
import { openEmbedded } from "../src/db/embedded.ts";
import type { Database } from "../src/db/sql.ts";
import {
  type MeasuredLoad,
  measureLoad,
  type ServerProcess,
  startServer,
} from "./server_process.ts";
import { storeFigures } from "./store_figures.ts";

export interface Sustained {
  readonly load: MeasuredLoad;
  /** As the load ended. */
  readonly pending: number;
  /** From then on until nothing was pending, or EMPTY_MS_MAX had passed with this many left. */
  readonly emptyAfterSeconds: number;
  readonly left: number;
  /** That were taken in and counted. */
  readonly eventsPerSecond: number;
  readonly bytesPerEvent: number;
  readonly journalBytesPerEvent: number;
  readonly walBytesPerEvent: number;
}

export interface SustainedOrder {
  readonly connections: number;
  readonly batchEvents: number;
  readonly seconds: number;
}

const LOOK_MS = 100;
const EMPTY_MS_MAX = 600_000;
const JWT_SECRET = "a secret of the ingestion benchmark, 32 bytes or more";

type Emptied = Pick<Sustained, "pending" | "emptyAfterSeconds" | "left">;

/** Waits until nothing is pending, for EMPTY_MS_MAX at most. */
async function untilEmpty(ask: () => Promise<number>): Promise<Emptied> {
  const startedAt = performance.now();
  const pending = await ask();
  let left = pending;
  while (left > 0 && performance.now() - startedAt < EMPTY_MS_MAX) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    left = await ask();
  }
  return { pending, left, emptyAfterSeconds: (performance.now() - startedAt) / 1000 };
}

type Figures = Awaited<ReturnType<typeof storeFigures>>;

function sustained(
  load: MeasuredLoad,
  emptied: Emptied,
  before: Figures,
  after: Figures,
): Sustained {
  const events = after.events - before.events;
  if (events !== load.accepted) {
    throw new Error(`${load.accepted} events were accepted, ${events} are stored`);
  }
  return {
    load,
    ...emptied,
    eventsPerSecond: (events - emptied.left) / (load.seconds + emptied.emptyAfterSeconds),
    bytesPerEvent: (after.bytes - before.bytes) / events,
    journalBytesPerEvent: (after.journalBytes - before.journalBytes) / events,
    walBytesPerEvent: (after.walBytes - before.walBytes) / events,
  };
}

/** On PostgreSQL, with a server that runs. */
export async function measureSustained(
  server: ServerProcess,
  sql: Database,
  databasePid: number,
  order: SustainedOrder,
): Promise<Sustained> {
  const before = await storeFigures(sql);
  const load = await measureLoad(server, databasePid, order);
  const emptied = await untilEmpty(async () => (await storeFigures(sql)).pending);
  return sustained(load, emptied, before, await storeFigures(sql));
}

/** How many events the server says that it has not counted yet; asking makes it count. */
async function pendingReader(port: number): Promise<() => Promise<number>> {
  const token = await new SignJWT({ projects: ["*"], scope: "read admin" })
    .setProtectedHeader({ alg: "HS256" }).setSubject("bench")
    .setExpirationTime("12h").sign(new TextEncoder().encode(JWT_SECRET));
  const headers = { Authorization: `Bearer ${token}` };
  const ask = async (path: string) => {
    const startedAt = performance.now();
    let reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    // Earlier versions refuse to read while much is pending, and go on with it.
    while (reply.status === 503 && performance.now() - startedAt < EMPTY_MS_MAX) {
      await reply.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    }
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return await reply.json();
  };
  const { projects } = await ask("/v1/projects");
  // Earlier versions say nothing of it: they answer when there is none.
  return async () => (await ask(`/v1/kpis?project=${projects[0].id}`)).pending ?? 0;
}

async function embeddedFigures(dataDir: string): Promise<Figures> {
  const database = await openEmbedded(dataDir);
  const figures = await storeFigures(database);
  await database.close();
  return figures;
}

/** On an embedded database of its own, which only one process may open at a time. */
export async function measureSustainedEmbedded(
  checkout: string,
  dataDir: string,
  order: SustainedOrder,
  observe: (server: ServerProcess) => void = () => {},
): Promise<Sustained> {
  Deno.env.set("JWT_SECRET", JWT_SECRET);
  await (await startServer(checkout, null, dataDir)).stop();
  const before = await embeddedFigures(dataDir);
  const server = await startServer(checkout, null, dataDir);
  let load: MeasuredLoad;
  let emptied: Emptied;
  try {
    load = await measureLoad(server, null, order);
    emptied = await untilEmpty(await pendingReader(server.port));
    observe(server);
  } finally {
    await server.stop();
  }
  return sustained(load, emptied, before, await embeddedFigures(dataDir));
}
