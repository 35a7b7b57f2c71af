/** Whether the server's projection keeps up with ingestion: how much is stored and not projected yet, over
 * time. Of histories of odd shapes: projection_shapes.ts. */
import type { Sql } from "../src/db/sql.ts";
import { type ConfiguredCluster, createSchemaDatabase } from "./configured_cluster.ts";
import { loadLastMinute, machineLine } from "./process_figures.ts";
import { type MeasuredLoad, measureLoad, startServer } from "./server_process.ts";

export interface BacklogOrder {
  readonly eventsPerSecond: number;
  readonly seconds: number;
}

export interface BacklogPoint {
  /** Since the generator was started; it needs some itself before it sends. */
  readonly seconds: number;
  readonly rows: number;
  readonly events: number;
}

export interface BacklogReport {
  readonly machine: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly order: BacklogOrder;
  readonly load: MeasuredLoad;
  readonly backlog: readonly BacklogPoint[];
  /** While events came in. */
  readonly projectedPerSecond: number;
  /** From the end of the load until nothing was left; null: not within the time allowed. */
  readonly emptyAfterSeconds: number | null;
  readonly loadAverage: number;
}

const CONNECTIONS = 64;
const BATCH_EVENTS = 10;
const WARM_UP_EVENTS = 20_000;
const LOOK_MS = 500;
const EMPTY_MS_MAX = 60_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function readBacklog(sql: Sql): Promise<Omit<BacklogPoint, "seconds">> {
  const [row] = await sql.query<{ rows: number; events: number }>(
    `SELECT count(*)::int AS rows, coalesce(sum(event_count), 0)::int AS events
    FROM journal WHERE projected_at IS NULL`,
  );
  return row!;
}

/** Waits until nothing is left to project. @returns seconds; null: it took too long */
async function untilEmpty(sql: Sql): Promise<number | null> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  while ((await readBacklog(sql)).rows > 0) {
    if (elapsedMs() > EMPTY_MS_MAX) return null;
    await pause(LOOK_MS / 5);
  }
  return elapsedMs() / 1000;
}

/** Sends events at a steady rate to a server on an empty database, and looks at the journal meanwhile. */
export async function measureBacklog(
  { cluster, version, settings }: ConfiguredCluster,
  checkout: string,
  order: BacklogOrder,
): Promise<BacklogReport> {
  const { sql, url, drop } = await createSchemaDatabase(cluster);
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-bench-" });
  const server = await startServer(checkout, url, dataDir);
  const loadOf = (events: number) => ({
    connections: CONNECTIONS,
    batchEvents: BATCH_EVENTS,
    requests: Math.ceil(events / BATCH_EVENTS),
    eventsPerSecond: order.eventsPerSecond,
  });
  try {
    await measureLoad(server, cluster.pid, loadOf(Math.min(WARM_UP_EVENTS, order.eventsPerSecond)));
    if (await untilEmpty(sql) === null) console.error("The server has not projected the warm-up.");
    await sql.query("CHECKPOINT");
    const before = (await readBacklog(sql)).events;
    const startedAt = performance.now();
    const backlog: BacklogPoint[] = [];
    let sending = true;
    const look = async () => {
      const seconds = (performance.now() - startedAt) / 1000;
      backlog.push({ seconds, ...await readBacklog(sql) });
    };
    const watch = async () => {
      for (; sending; await pause(LOOK_MS)) await look();
    };
    const send = async () => {
      try {
        return await measureLoad(
          server,
          cluster.pid,
          loadOf(order.eventsPerSecond * order.seconds),
        );
      } finally {
        sending = false;
        await look();
      }
    };
    const [load] = await Promise.all([send(), watch()]);
    const left = backlog.at(-1)!.events - before;
    return {
      machine: machineLine(version),
      settings,
      order,
      load,
      backlog,
      projectedPerSecond: (load.accepted - left) / load.seconds,
      emptyAfterSeconds: await untilEmpty(sql),
      loadAverage: loadLastMinute(),
    };
  } finally {
    await server.stop();
    await drop();
    await Deno.remove(dataDir, { recursive: true });
  }
}

const count = (value: number): string => Math.round(value).toLocaleString("en");

const perEvent = (seconds: number, { accepted }: MeasuredLoad): string =>
  (seconds * 1e6 / Math.max(1, accepted)).toFixed(1);

/** The report for people. */
export function backlogText(report: BacklogReport): string {
  const { load, order, backlog } = report;
  const settings = Object.entries(report.settings).map(([name, value]) => `${name}=${value}`);
  const largest = Math.max(...backlog.map(({ events }) => events));
  const empty = report.emptyAfterSeconds;
  return [
    report.machine,
    `Settings: ${settings.join(", ")}`,
    `Load average: ${report.loadAverage.toFixed(2)}`,
    "",
    "seconds   rows  events not projected yet",
    ...backlog.map(({ seconds, rows, events }) =>
      `${seconds.toFixed(1).padStart(7)}  ${count(rows).padStart(5)}  ${count(events).padStart(24)}`
    ),
    "",
    `Asked for ${count(order.eventsPerSecond)} events/s over ${order.seconds} s, ` +
    `taken in ${count(load.eventsPerSecond)} events/s; ` +
    `latency p50 ${load.p50Ms.toFixed(1)} ms, p99 ${load.p99Ms.toFixed(1)} ms, since each was due`,
    `Projected meanwhile ${count(report.projectedPerSecond)} events/s; largest backlog ${
      count(largest)
    }; ` +
    (empty === null
      ? `not projected ${EMPTY_MS_MAX / 1000} s after the end`
      : `all projected ${empty.toFixed(1)} s after the end`),
    `Processor time of each event: server ${perEvent(load.serverCpuSeconds, load)} µs, ` +
    `database ${perEvent(load.databaseCpuSeconds, load)} µs`,
    `Processor time: server ${load.serverCpuSeconds.toFixed(1)} s, ` +
    `database ${load.databaseCpuSeconds.toFixed(1)} s, ` +
    `generator ${load.cpuSeconds.toFixed(1)} s of ${load.seconds.toFixed(1)} s`,
  ].join("\n");
}
