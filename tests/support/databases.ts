import { openDatabase } from "../../src/db/open.ts";
import type { Database } from "../../src/db/sql.ts";
import { READ_CONNECTIONS_MAX } from "../../src/limits.ts";
import { makeBareDataDir, makeDataDir } from "./embedded_template.ts";
import { planKeptDatabase, withKeptDatabase } from "./kept_database.ts";
import { keepEngine } from "./kept_engine.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "./throwaway_postgres.ts";

/** An empty database of one engine, for one test. */
export interface TestDatabase {
  /** Opens it; what the test does not close is closed after it. */
  open(): Promise<Database>;
  /** Where PostgreSQL has it; null: the embedded engine does. */
  readonly url: string | null;
}

/** A database that a server process can open, too: the embedded engine has a folder of its own. */
export interface TestPlace extends TestDatabase {
  /** What a server process needs in its environment to use it. */
  readonly env: Record<string, string>;
}

type EngineTest<D = TestPlace> = (t: Deno.TestContext, db: D) => Promise<void>;

let cluster: ThrowawayPostgres | null = null;
let clusterIsPlanned = false;

/**
 * Registers `<name> [embedded]` and `<name> [postgres]`, on an empty database of the present schema. The tests of the
 * embedded engine have one after the other (`kept_database.ts`). Without a PostgreSQL server installed the second is
 * ignored, except where CI is true: there it runs, and fails saying so.
 */
export function onBothEngines(name: string, fn: EngineTest<TestDatabase>): void {
  planKeptDatabase();
  Deno.test(
    `${name} [embedded]`,
    (t) => withKeptDatabase((open) => fn(t, { open, url: null })),
  );
  registerPostgres(name, fn, true);
}

/** The same with an engine that starts for this test, and a folder of its own: for servers, and for what it ends. */
export function onFreshEngines(name: string, fn: EngineTest): void {
  registerFresh(name, fn, true);
}

/**
 * Registers `<name> [postgres]` alone, for what one session cannot do, such as to read beside a transaction, or what
 * another test asserts of the embedded engine.
 */
export function onPostgres(name: string, fn: EngineTest): void {
  registerPostgres(name, fn, true);
}

/** The same as `onFreshEngines` on a database without any table, as before the first start. */
export function onBareEngines(name: string, fn: EngineTest): void {
  registerFresh(name, fn, false);
}

function registerFresh(name: string, fn: EngineTest, hasSchema: boolean): void {
  Deno.test(`${name} [embedded]`, async (t) => {
    await keepEngine();
    const dataDir = await (hasSchema ? makeDataDir : makeBareDataDir)("footfall-data-");
    try {
      await withDatabase({ databaseUrl: null, dataDir, env: { DATA_DIR: dataDir } }, t, fn);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
  registerPostgres(name, fn, hasSchema);
}

function registerPostgres(name: string, fn: EngineTest, hasSchema: boolean): void {
  const available = findPostgresBinaries() !== null;
  const inCi = Deno.env.get("CI") === "true";
  if (available) planCluster();
  Deno.test({
    name: `${name} [postgres]`,
    ignore: !available && !inCi,
    fn: async (t) => {
      if (cluster === null) throw new Error("CI needs a PostgreSQL server: initdb was not found");
      const { url, drop } = await freshDatabase(cluster, { hasSchema });
      const dataDir = await Deno.makeTempDir({ prefix: "footfall-data-" });
      try {
        const env = { DATABASE_URL: url, DATA_DIR: dataDir };
        await withDatabase({ databaseUrl: url, dataDir, env }, t, fn);
      } finally {
        await Deno.remove(dataDir, { recursive: true });
        await drop();
      }
    },
  });
}

async function withDatabase(
  place: { databaseUrl: string | null; dataDir: string; env: Record<string, string> },
  t: Deno.TestContext,
  fn: EngineTest,
): Promise<void> {
  const opened: Database[] = [];
  const open = async () => {
    const { databaseUrl, dataDir } = place;
    const connectionsMax = READ_CONNECTIONS_MAX;
    const options = { databaseUrl, dataDir, statementTimeoutMs: 15_000, connectionsMax };
    const database = await openDatabase(options);
    opened.push(database);
    return database;
  };
  try {
    await fn(t, { open, url: place.databaseUrl, env: place.env });
  } finally {
    for (const database of opened) await database.close();
  }
}

/** One cluster for all tests of an entry (`run_all.ts`), made only when it has such a test. */
function planCluster(): void {
  if (clusterIsPlanned) return;
  clusterIsPlanned = true;
  Deno.test.beforeAll(async () => {
    // Its tests end processes, never the machine.
    cluster = await startPostgres({ fsync: false });
  });
  Deno.test.afterAll(async () => {
    await cluster?.remove();
    cluster = null;
  });
}
