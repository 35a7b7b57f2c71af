/** Asks two versions the same requests, each of its own kept history, in turns. */
import { openBench } from "./configured_cluster.ts";
import { median } from "./median.ts";
import { peakMemoryBytes } from "./process_figures.ts";
import { nameOfSet, PREPARATIONS, type ReadSet, readSets } from "./read_requests.ts";
import { ReadServer } from "./read_server.ts";

/** A version, and the database that its `bench:reads --keep` has left. */
export interface KeptVersion {
  readonly folder: string;
  readonly url: string;
}

export interface AgainstOptions {
  readonly project: string;
  readonly days: number;
  readonly requests: number;
  readonly only: readonly string[] | null;
}

// Before the one store, events were rows.
const LAST_EVENT = `SELECT CASE WHEN to_regclass('journal') IS NULL
  THEN 'SELECT (extract(epoch FROM max(occurred_at)) * 1000)::float8 AS ms FROM events'
  ELSE 'SELECT max(to_ms)::float8 AS ms FROM segments' END AS text`;

/** A running version, and what it is asked, by the end of its history. */
interface AskedVersion {
  readonly server: ReadServer;
  readonly sets: readonly ReadSet[];
}

async function openVersion(
  { folder, url }: KeptVersion,
  { project, days, requests, only }: AgainstOptions,
): Promise<AskedVersion> {
  const sql = openBench(url);
  try {
    const [{ text }] = await sql.query(LAST_EVENT) as [{ text: string }];
    const [{ ms }] = await sql.query(text) as [{ ms: number }];
    const asking = { projectPublicId: project, days, endMs: Math.floor(ms), requests };
    const server = await ReadServer.start(folder, { url });
    await server.prepare(PREPARATIONS, project);
    return { server, sets: readSets(asking, only) };
  } finally {
    await sql.close();
  }
}

/** How long each request of a set took, in ms; empty where the version does not answer all of them. */
async function timesOf({ server, sets }: AskedVersion, number: number): Promise<number[]> {
  const measured = await server.measure(sets[number]!);
  const times = measured?.reads.map(({ ms }) => ms) ?? [];
  return times.length === sets[number]!.queries.length ? times : [];
}

const told = (times: readonly number[]) =>
  times.length === 0 ? "-" : `${median(times).toFixed(0)} (${Math.max(...times).toFixed(0)})`;

/**
 * Asks each set of requests of the one version and then of the other, and prints a line for each: the
 * median (the slowest) of both in ms, and the median of the ratios of each request.
 */
export async function printAgainst(
  present: KeptVersion,
  before: KeptVersion,
  options: AgainstOptions,
): Promise<void> {
  const now = await openVersion(present, options);
  const then = await openVersion(before, options);
  try {
    for (const [number, set] of now.sets.entries()) {
      const times = await timesOf(now, number);
      const earlier = await timesOf(then, number);
      const isBoth = times.length > 0 && earlier.length > 0;
      const ratio = isBoth ? median(times.map((ms, i) => ms / earlier[i]!)).toFixed(2) : "-";
      console.log(`${nameOfSet(set)}: ${told(times)}; before ${told(earlier)}; ratio ${ratio}`);
    }
    const [peak, peakBefore] = [now, then].map(({ server }) =>
      Math.round(peakMemoryBytes(server.server.pid) / 2 ** 20)
    );
    console.log(`peak memory of the server: ${peak} MiB; before ${peakBefore} MiB`);
  } finally {
    await now.server.stop();
    await then.server.stop();
  }
}
