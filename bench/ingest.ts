/**
 * `deno task bench:ingest [--quick] [--attacks] [--json] [--rounds=N] [--against=FOLDER]`
 *
 * How close the whole service comes to what PostgreSQL can take at all: COPY, the grouped INSERT and
 * the service store the same kind of rows in tables of their own, in turns, and the median of their
 * ratios counts, since machines are noisy. `--against` names another checkout, whose server takes its
 * turns too. Linux, with a PostgreSQL server installed. At the end, and with `--attacks` alone: what
 * legitimate clients notice of hostile ones.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import { openEmbedded } from "../src/db/embedded.ts";
import { openPostgres } from "../src/db/postgres.ts";
import type { Database, Sql } from "../src/db/sql.ts";
import {
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../tests/support/throwaway_postgres.ts";
import { attackedLines, type AttackedLoad, measureAttacked } from "./attacked.ts";
import { type Report, reportText, type Round } from "./ingest_report.ts";
import { loadLastMinute, machineLine, peakMemoryBytes } from "./process_figures.ts";
import {
  type MeasuredLoad,
  measureLoad,
  type ServerProcess,
  startServer,
} from "./server_process.ts";
import {
  COPY_WAYS,
  type CopyWay,
  describeCopy,
  freshRows,
  measureCopy,
  measureInsert,
  type TypicalRow,
  typicalRows,
} from "./stored_rows.ts";
import { EVENT_KINDS } from "./typical_events.ts";

interface Sizes {
  readonly rounds: number;
  /** Events that each way stores in each round. */
  readonly eventsPerRound: number;
  readonly warmUpEvents: number;
  readonly singles: number;
  readonly rowsPerKind: number;
}

const FULL: Sizes = {
  rounds: 3,
  eventsPerRound: 350_000,
  warmUpEvents: 50_000,
  singles: 3_000,
  rowsPerKind: 50_000,
};
const QUICK: Sizes = {
  rounds: 1,
  eventsPerRound: 60_000,
  warmUpEvents: 10_000,
  singles: 500,
  rowsPerKind: 10_000,
};

const BATCH_EVENTS = 10;
const CONNECTIONS = 64;
/** Of distinct rows for COPY and INSERT: as many as the load has distinct requests. */
const TYPICAL_BATCHES = 4_000;
const PROJECT_ID = 1;

const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
};

const repository = fileURLToPath(new URL("..", import.meta.url));
const progress = (text: string): void => console.error(text);

async function configured(cluster: ThrowawayPostgres): Promise<string> {
  const sql = open(cluster.url);
  for (const [name, value] of Object.entries(SERVER_SETTINGS)) {
    await sql.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  }
  await sql.close();
  await cluster.stop("fast");
  await cluster.start();
  const again = open(cluster.url);
  const [row] = await again.query<{ server_version: string }>("SHOW server_version");
  await again.close();
  return row!.server_version.split(" ")[0]!;
}

function open(url: string): Database {
  const options = { connectionsMax: 2, statementTimeoutMs: 60_000, applicationName: "bench" };
  return openPostgres(url, options);
}

/** A database of its own with the product's schema. */
async function schemaDatabase(cluster: ThrowawayPostgres): Promise<{ url: string; sql: Database }> {
  const { url } = await freshDatabase(cluster);
  const sql = open(url);
  await migrate(sql, MIGRATIONS);
  return { url, sql };
}

async function eventBytes(sql: Sql): Promise<{ events: number; bytes: number }> {
  const [row] = await sql.query<{ events: number; bytes: number }>(
    "SELECT (SELECT count(*) FROM events) AS events, pg_total_relation_size('events') AS bytes",
  );
  return row!;
}

const loadOf = (events: number) => ({
  connections: CONNECTIONS,
  batchEvents: BATCH_EVENTS,
  requests: events / BATCH_EVENTS,
});

function say(what: string, perSecond: number): void {
  progress(`${what}: ${Math.round(perSecond)} events/s (load ${loadLastMinute().toFixed(1)})`);
}

/** The benchmark's run-time: everything that is open while it runs. */
interface Bench {
  readonly sizes: Sizes;
  readonly folder: string;
  readonly cluster: ThrowawayPostgres;
  readonly rows: readonly TypicalRow[];
}

async function compareCopyWays({ sizes, folder, cluster, rows }: Bench) {
  const { url, sql } = await schemaDatabase(cluster);
  const measured: { way: CopyWay; rowsPerSecond: number }[] = [];
  // Uncounted: from then on the log's files are there to be used again, as in a server that has run
  // for a while. Making them halves the rate of whoever comes first.
  await measureCopy(url, folder, COPY_WAYS[0]!, freshRows(rows, 2 * sizes.eventsPerRound));
  for (const way of COPY_WAYS) {
    await sql.query("TRUNCATE events");
    await sql.query("CHECKPOINT");
    const fresh = freshRows(rows, sizes.eventsPerRound);
    const rowsPerSecond = await measureCopy(url, folder, way, fresh);
    say(describeCopy(way), rowsPerSecond);
    measured.push({ way, rowsPerSecond });
  }
  await sql.close();
  return measured.sort((a, b) => b.rowsPerSecond - a.rowsPerSecond);
}

/** A server on a database of its own. Every run checks that as many rows were added as were accepted. */
class MeasuredService {
  private constructor(
    readonly bench: Bench,
    readonly sql: Database,
    readonly server: ServerProcess,
  ) {}

  static async start(bench: Bench, checkout: string): Promise<MeasuredService> {
    const { url } = await freshDatabase(bench.cluster);
    const dataDir = await Deno.makeTempDir({ dir: bench.folder });
    const server = await startServer(checkout, url, dataDir);
    return new MeasuredService(bench, open(url), server);
  }

  async measure(order: Parameters<typeof measureLoad>[2]): Promise<MeasuredLoad> {
    const before = await eventBytes(this.sql);
    await this.sql.query("CHECKPOINT");
    const measured = await measureLoad(this.server, this.bench.cluster.pid, order);
    const stored = (await eventBytes(this.sql)).events - before.events;
    if (stored !== measured.accepted) {
      throw new Error(`${measured.accepted} events were accepted, ${stored} are stored`);
    }
    return measured;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.sql.close();
  }
}

async function measureRounds(
  bench: Bench,
  fastestCopy: CopyWay,
  service: MeasuredService,
  against: MeasuredService | null,
): Promise<Round[]> {
  const { sizes, folder, cluster, rows } = bench;
  const copied = await schemaDatabase(cluster);
  const inserted = await schemaDatabase(cluster);
  const rounds: Round[] = [];
  for (const one of [service, against]) await one?.measure(loadOf(sizes.warmUpEvents));
  for (let i = 1; i <= sizes.rounds; i++) {
    const fresh = () => freshRows(rows, sizes.eventsPerRound);
    await copied.sql.query("CHECKPOINT");
    const copyRowsPerSecond = await measureCopy(copied.url, folder, COPY_WAYS[0]!, fresh());
    say(`round ${i}, COPY on one connection`, copyRowsPerSecond);
    await copied.sql.query("CHECKPOINT");
    const fastestCopyRowsPerSecond = await measureCopy(copied.url, folder, fastestCopy, fresh());
    say(`round ${i}, COPY the fastest way`, fastestCopyRowsPerSecond);
    await inserted.sql.query("CHECKPOINT");
    const insertRowsPerSecond = await measureInsert(inserted.sql, fresh());
    say(`round ${i}, grouped INSERT`, insertRowsPerSecond);
    const measured = await service.measure(loadOf(sizes.eventsPerRound));
    say(`round ${i}, service`, measured.eventsPerSecond);
    const other = await against?.measure(loadOf(sizes.eventsPerRound)) ?? null;
    if (other !== null) say(`round ${i}, the other checkout`, other.eventsPerSecond);
    rounds.push({
      copyRowsPerSecond,
      fastestCopyRowsPerSecond,
      insertRowsPerSecond,
      service: measured,
      against: other,
    });
  }
  await copied.sql.close();
  await inserted.sql.close();
  return rounds;
}

async function measureKinds({ sizes, folder, cluster, rows }: Bench) {
  const { url, sql } = await schemaDatabase(cluster);
  const bytes: Record<string, number> = {};
  for (const kind of EVENT_KINDS) {
    await sql.query("TRUNCATE events");
    const ofKind = rows.filter((row) => row.kind === kind);
    await measureCopy(url, folder, COPY_WAYS[0]!, freshRows(ofKind, sizes.rowsPerKind));
    bytes[kind] = (await eventBytes(sql)).bytes / sizes.rowsPerKind;
  }
  await sql.close();
  return bytes;
}

async function measureEmbedded(sizes: Sizes, folder: string): Promise<Report["embedded"]> {
  const dataDir = await Deno.makeTempDir({ dir: folder });
  // The first start makes the database with an engine of its own, and its memory is given back.
  const first = await startServer(repository, null, dataDir);
  const firstStartPeakMemoryBytes = peakMemoryBytes(first.pid);
  await first.stop();
  const server = await startServer(repository, null, dataDir);
  let measured: MeasuredLoad;
  let serverPeakMemoryBytes: number;
  const warmUp = loadOf(sizes.warmUpEvents);
  try {
    await measureLoad(server, null, warmUp);
    measured = await measureLoad(server, null, loadOf(sizes.eventsPerRound));
    say("embedded engine", measured.eventsPerSecond);
    serverPeakMemoryBytes = peakMemoryBytes(server.pid);
  } finally {
    await server.stop();
  }
  const database = await openEmbedded(dataDir);
  const { events, bytes } = await eventBytes(database);
  await database.close();
  const accepted = measured.accepted + sizes.warmUpEvents;
  if (events !== accepted) throw new Error(`${accepted} were accepted, ${events} are stored`);
  const bytesPerEvent = bytes / events;
  return { ...measured, bytesPerEvent, serverPeakMemoryBytes, firstStartPeakMemoryBytes };
}

async function measureAll(
  bench: Bench,
  machine: string,
  otherCheckout: string | undefined,
): Promise<Report> {
  const before = loadLastMinute();
  const copyWays = await compareCopyWays(bench);
  const service = await MeasuredService.start(bench, repository);
  const against = otherCheckout === undefined
    ? null
    : await MeasuredService.start(bench, otherCheckout);
  const { sizes } = bench;
  const rounds = await measureRounds(bench, copyWays[0]!.way, service, against);
  const singles = await service.measure({
    connections: 1,
    batchEvents: 1,
    requests: sizes.singles,
  });
  const serverPeakMemoryBytes = peakMemoryBytes(service.server.pid);
  const { events, bytes } = await eventBytes(service.sql);
  await service.stop();
  await against?.stop();
  return {
    machine,
    settings: SERVER_SETTINGS,
    copyWays: copyWays.map(({ way, rowsPerSecond }) => ({ way: describeCopy(way), rowsPerSecond })),
    rounds,
    singles,
    serverPeakMemoryBytes,
    storedEvents: events,
    bytesPerEvent: bytes / events,
    bytesPerEventByKind: await measureKinds(bench),
    embedded: await measureEmbedded(sizes, bench.folder),
    loadAverage: [before, loadLastMinute()],
  };
}

/** On both engines; with `--attacks --against`, those of the other checkout. */
async function measureAttacks(
  { folder, cluster }: Bench,
  checkout: string,
): Promise<[engine: string, AttackedLoad[]][]> {
  const engines: [string, ThrowawayPostgres | null][] = [["PostgreSQL", cluster], [
    "embedded",
    null,
  ]];
  const measured: [string, AttackedLoad[]][] = [];
  for (const [engine, on] of engines) {
    const loads = await measureAttacked(checkout, folder, on);
    progress(`${engine}: attacks measured (load ${loadLastMinute().toFixed(1)})`);
    measured.push([engine, loads]);
  }
  return measured;
}

const { values: options } = parseArgs({
  args: Deno.args,
  options: {
    attacks: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    rounds: { type: "string" },
    against: { type: "string" },
  },
});

const sizes = options.quick ? QUICK : FULL;
const folder = await Deno.makeTempDir({ prefix: "footfall-bench-" });
const cluster = await startPostgres();
try {
  const version = await configured(cluster);
  const bench: Bench = {
    sizes: options.rounds === undefined ? sizes : { ...sizes, rounds: Number(options.rounds) },
    folder,
    cluster,
    rows: await typicalRows(TYPICAL_BATCHES, PROJECT_ID),
  };
  const report = options.attacks
    ? null
    : await measureAll(bench, machineLine(version), options.against);
  const attacked = await measureAttacks(
    bench,
    options.attacks ? options.against ?? repository : repository,
  );
  if (options.json) console.log(JSON.stringify({ ...report, attacked }, null, 2));
  else {
    if (report !== null) console.log(reportText(report));
    for (const [engine, loads] of attacked) console.log(attackedLines(engine, loads).join("\n"));
  }
} finally {
  await cluster.remove();
  await Deno.remove(folder, { recursive: true });
}
