import { freshDatabase, type ThrowawayPostgres } from "../tests/support/throwaway_postgres.ts";
import { startBodies } from "./attack/hostile_clients.ts";
import type { BodiesOrder, BodiesResult } from "./attack/bodies_worker.ts";
import { peakMemoryBytes } from "./process_figures.ts";
import { API_KEY, measureLoad, type ServerProcess, startServer } from "./server_process.ts";

/** What legitimate clients notice of one kind of attack, against the time without it in the same run. */
export interface AttackedLoad {
  readonly attack: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the 99th percentile. */
  readonly ratio: number;
  readonly replies: BodiesResult["replies"];
  /** Of the server so far, in bytes. */
  readonly peakMemoryBytes: number;
}

const ATTACKERS = 50;
const SECONDS = 5;
/** Before the next measurement: what the last attack left is written meanwhile. */
const LULL_MS = 1_500;
/** A busy site: 100 requests a second. */
const LEGITIMATE = {
  connections: 16,
  batchEvents: 10,
  requests: 100 * SECONDS,
  eventsPerSecond: 1_000,
};

type Kind = Pick<BodiesOrder, "bodies" | "apiKey" | "pauseMs"> & { readonly name: string };

/** At most ten requests a second each, like any client that tries again; and as fast as they can. */
const PAUSE_MS = 100;
const KINDS: readonly Kind[] = [
  { name: "10 KB of arrays, no key", bodies: "arrays", apiKey: null, pauseMs: PAUSE_MS },
  { name: "the same, as fast as replies come", bodies: "arrays", apiKey: null, pauseMs: 0 },
  { name: "10 KB of arrays, public key", bodies: "arrays", apiKey: API_KEY, pauseMs: PAUSE_MS },
  { name: "the same, as fast as replies come", bodies: "arrays", apiKey: API_KEY, pauseMs: 0 },
  { name: "made-up keys, each another one", bodies: "keys", apiKey: null, pauseMs: PAUSE_MS },
  {
    name: "the costliest body taken, public key",
    bodies: "costliest",
    apiKey: API_KEY,
    pauseMs: PAUSE_MS,
  },
];

async function measure(server: ServerProcess, databasePid: number | null): Promise<AttackedLoad[]> {
  await measureLoad(server, databasePid, LEGITIMATE);
  const before = await measureLoad(server, databasePid, LEGITIMATE);
  const quiet = {
    attack: "none",
    ratio: 1,
    replies: {},
    peakMemoryBytes: peakMemoryBytes(server.pid),
  };
  const told: AttackedLoad[] = [{ ...quiet, p50Ms: before.p50Ms, p99Ms: before.p99Ms }];
  for (const { name, ...kind } of KINDS) {
    const order = { ...kind, port: server.port, attackers: ATTACKERS, seconds: SECONDS + 1 };
    const attack = await startBodies(order);
    const { p50Ms, p99Ms } = await measureLoad(server, databasePid, LEGITIMATE);
    const { replies } = await attack.end;
    const peak = peakMemoryBytes(server.pid);
    console.error(`  ${name}: p99 ${p99Ms.toFixed(1)} ms, without ${before.p99Ms.toFixed(1)} ms`);
    told.push({
      attack: name,
      p50Ms,
      p99Ms,
      ratio: p99Ms / before.p99Ms,
      replies,
      peakMemoryBytes: peak,
    });
    await new Promise((resolve) => setTimeout(resolve, LULL_MS));
  }
  return told;
}

/** Legitimate requests while 50 hostile clients go on, on one engine (`cluster` null: the embedded). */
export async function measureAttacked(
  checkout: string,
  folder: string,
  cluster: ThrowawayPostgres | null,
): Promise<AttackedLoad[]> {
  const dataDir = await Deno.makeTempDir({ dir: folder });
  const url = cluster === null ? null : (await freshDatabase(cluster)).url;
  // The first start of the embedded engine makes the database, in memory that it gives back.
  if (cluster === null) await (await startServer(checkout, null, dataDir)).stop();
  const server = await startServer(checkout, url, dataDir);
  try {
    return await measure(server, cluster?.pid ?? null);
  } finally {
    await server.stop();
  }
}

/** One line for each attack. */
export function attackedLines(engine: string, loads: readonly AttackedLoad[]): string[] {
  return loads.map(({ attack, p50Ms, p99Ms, ratio, replies, peakMemoryBytes }) => {
    const told = Object.entries(replies).map(([reply, count]) => `${count} × ${reply}`).join(", ");
    return `${`${engine}, attack: ${attack}`.padEnd(56)}p50 ${p50Ms.toFixed(1)} ms, p99 ${
      p99Ms.toFixed(1)
    } ms (${ratio.toFixed(1)} ×); ${Math.round(peakMemoryBytes / 2 ** 20)} MiB; ${told}`;
  });
}
