/**
 * `deno task bench:ingest [--quick] [--attacks] [--json] [--rounds=N] [--sustained=SECONDS]
 * [--connections=N] [--against=COMMIT|FOLDER]`
 *
 * How close the whole service comes to what PostgreSQL can take at all, and what it takes for ever.
 *
 * Alone: COPY, the grouped INSERT and the service, whose projection is held meanwhile, store the same
 * events in databases of their own, in turns, and the median of their ratios counts, since machines
 * are noisy. COPY goes into the wide table of rows that the first migration makes. Sustained: the
 * service with its projection, until every event is counted (`--sustained=120`: the load lasts two
 * minutes), on both engines. The load has 64 connections, or as many as `--connections` says, each of
 * which waits for a reply before it sends again. Random ids (version 4) take turns with those by time.
 * `--against` names a commit, or another checkout, whose server takes its turns too. Linux, with a
 * PostgreSQL server installed. At the end, and with `--attacks` alone: what legitimate clients notice
 * of hostile ones.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import { openPostgres } from "../src/db/postgres.ts";
import type { Database } from "../src/db/sql.ts";
import {
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../tests/support/throwaway_postgres.ts";
import { attackedLines, type AttackedLoad, measureAttacked } from "./attacked.ts";
import { openCheckout } from "./checkout.ts";
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
import { holdProjection, storeFigures } from "./store_figures.ts";
import { measureSustained, measureSustainedEmbedded, type Sustained } from "./sustained.ts";

interface Sizes {
  readonly rounds: number;
  /** Events that each way stores in each round. */
  readonly eventsPerRound: number;
  readonly warmUpEvents: number;
  readonly singles: number;
  /** How long the load lasts that is to be projected too. */
  readonly sustainedSeconds: number;
  /** Of the load. */
  readonly connections: number;
}

const FULL: Sizes = {
  rounds: 3,
  eventsPerRound: 350_000,
  warmUpEvents: 50_000,
  singles: 3_000,
  sustainedSeconds: 15,
  connections: 64,
};
const QUICK: Sizes = {
  rounds: 1,
  eventsPerRound: 60_000,
  warmUpEvents: 10_000,
  singles: 500,
  sustainedSeconds: 4,
  connections: 64,
};

const BATCH_EVENTS = 10;
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

/** A database of its own with the product's schema, or the first of it alone. */
async function schemaDatabase(
  cluster: ThrowawayPostgres,
  migrations = MIGRATIONS,
): Promise<{ url: string; sql: Database }> {
  const { url } = await freshDatabase(cluster);
  const sql = open(url);
  await migrate(sql, migrations);
  return { url, sql };
}

/** The wide table of rows, whatever the product stores today: the limit that it is compared with. */
const WIDE_ROWS = MIGRATIONS.slice(0, 1);

const loadOf = ({ connections }: Sizes, events: number) => ({
  connections,
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
  const { url, sql } = await schemaDatabase(cluster, WIDE_ROWS);
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

/**
 * A server on a database of its own. Every run checks that as many events were added as were accepted.
 */
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

  /** Ingestion alone: nothing is projected meanwhile. */
  async measure(order: Parameters<typeof measureLoad>[2]): Promise<MeasuredLoad> {
    const before = await storeFigures(this.sql);
    await this.sql.query("CHECKPOINT");
    const measured = await measureLoad(this.server, this.bench.cluster.pid, order);
    const after = await storeFigures(this.sql);
    for (const what of ["events", "pending"] as const) {
      if (after[what] - before[what] !== measured.accepted) {
        throw new Error(
          `${measured.accepted} were accepted, ${after[what] - before[what]} are ${what}`,
        );
      }
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
  const copied = await schemaDatabase(cluster, WIDE_ROWS);
  const inserted = await schemaDatabase(cluster);
  const rounds: Round[] = [];
  for (const one of [service, against]) await one?.measure(loadOf(sizes, sizes.warmUpEvents));
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
    const measured = await service.measure(loadOf(sizes, sizes.eventsPerRound));
    say(`round ${i}, service`, measured.eventsPerSecond);
    const other = await against?.measure(loadOf(sizes, sizes.eventsPerRound)) ?? null;
    if (other !== null) say(`round ${i}, the other checkout`, other.eventsPerSecond);
    const random = await service.measure({
      ...loadOf(sizes, sizes.eventsPerRound),
      randomIds: true,
    });
    say(`round ${i}, random ids`, random.eventsPerSecond);
    rounds.push({
      copyRowsPerSecond,
      fastestCopyRowsPerSecond,
      insertRowsPerSecond,
      service: measured,
      against: other,
      random,
    });
  }
  await copied.sql.close();
  await inserted.sql.close();
  return rounds;
}

/** Rounds of the service, and of the other checkout, with their projections. */
async function measureKeepingPace(bench: Bench, checkouts: readonly string[]) {
  const { sizes, cluster } = bench;
  const order = {
    connections: sizes.connections,
    batchEvents: BATCH_EVENTS,
    seconds: sizes.sustainedSeconds,
  };
  const services = await Promise.all(checkouts.map((each) => MeasuredService.start(bench, each)));
  const postgres: Sustained[][] = checkouts.map(() => []);
  const embedded: Sustained[][] = checkouts.map(() => []);
  let embeddedPeakMemoryBytes = 0;
  const sayOf = (engine: string, i: number, one: Sustained) =>
    say(`${engine}, sustained${i === 0 ? "" : ", the other checkout"}`, one.eventsPerSecond);
  for (let round = 0; round < sizes.rounds; round++) {
    for (const [i, { server, sql }] of services.entries()) {
      const one = await measureSustained(server, sql, cluster.pid, order);
      sayOf("PostgreSQL", i, one);
      postgres[i]!.push(one);
    }
  }
  for (const service of services) await service.stop();
  for (let round = 0; round < sizes.rounds; round++) {
    for (const [i, checkout] of checkouts.entries()) {
      const dataDir = await Deno.makeTempDir({ dir: bench.folder });
      const one = await measureSustainedEmbedded(checkout, dataDir, order, ({ pid }) => {
        if (i === 0) {
          embeddedPeakMemoryBytes = Math.max(embeddedPeakMemoryBytes, peakMemoryBytes(pid));
        }
      });
      sayOf("embedded", i, one);
      embedded[i]!.push(one);
      await Deno.remove(dataDir, { recursive: true });
    }
  }
  return { postgres, embedded, embeddedPeakMemoryBytes };
}

/** Ingestion with the projection held, against COPY. */
async function measureAlone(bench: Bench, fastestCopy: CopyWay, checkouts: readonly string[]) {
  const [service, against] = await Promise.all(
    checkouts.map((each) => MeasuredService.start(bench, each)),
  );
  const releases = await Promise.all(
    [service, against].map((one) => one && holdProjection(one.sql, PROJECT_ID)),
  );
  const rounds = await measureRounds(bench, fastestCopy, service!, against ?? null);
  const singles = await service!.measure({
    connections: 1,
    batchEvents: 1,
    requests: bench.sizes.singles,
  });
  const serverPeakMemoryBytes = peakMemoryBytes(service!.server.pid);
  for (const release of releases) await release?.();
  await service!.stop();
  await against?.stop();
  return { rounds, singles, serverPeakMemoryBytes };
}

async function measureAll(
  bench: Bench,
  machine: string,
  checkouts: readonly string[],
): Promise<Report> {
  const before = loadLastMinute();
  const copyWays = await compareCopyWays(bench);
  return {
    machine,
    settings: SERVER_SETTINGS,
    connections: bench.sizes.connections,
    copyWays: copyWays.map(({ way, rowsPerSecond }) => ({ way: describeCopy(way), rowsPerSecond })),
    ...await measureAlone(bench, copyWays[0]!.way, checkouts),
    sustained: await measureKeepingPace(bench, checkouts),
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
    sustained: { type: "string" },
    connections: { type: "string" },
    against: { type: "string" },
  },
});

const sizes = options.quick ? QUICK : FULL;
const folder = await Deno.makeTempDir({ prefix: "footfall-bench-" });
const against = options.against === undefined
  ? null
  : await openCheckout(repository, options.against, folder);
const cluster = await startPostgres();
try {
  const version = await configured(cluster);
  const bench: Bench = {
    sizes: {
      ...sizes,
      rounds: Number(options.rounds ?? sizes.rounds),
      sustainedSeconds: Number(options.sustained ?? sizes.sustainedSeconds),
      connections: Number(options.connections ?? sizes.connections),
    },
    folder,
    cluster,
    rows: await typicalRows(TYPICAL_BATCHES, PROJECT_ID),
  };
  const checkouts = [repository, ...(against === null ? [] : [against.folder])];
  const report = options.attacks ? null : await measureAll(bench, machineLine(version), checkouts);
  // What there is after minutes is told before the attacks, which take as long.
  if (report !== null && !options.json) console.log(reportText(report));
  const attacked = await measureAttacks(bench, options.attacks ? checkouts.at(-1)! : repository);
  if (options.json) console.log(JSON.stringify({ ...report, attacked }, null, 2));
  else for (const [engine, loads] of attacked) console.log(attackedLines(engine, loads).join("\n"));
} finally {
  await cluster.remove();
  await against?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
}
