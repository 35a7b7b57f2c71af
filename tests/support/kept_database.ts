import { type EmbeddedDatabase, openEmbedded } from "../../src/db/embedded.ts";
import {
  type Database,
  DatabaseUnavailable,
  type Param,
  type Row,
  type Settings,
  type Sql,
} from "../../src/db/sql.ts";
import { makeDataDir } from "./embedded_template.ts";
import { keepEngine } from "./kept_engine.ts";

/** The table with rows in a new database: what was migrated. */
const SEEDED = "schema_migrations";

/** What a test may have changed of the schema and of what a new database has, as one text. */
const SHAPE = `
  SELECT md5(string_agg(line, '|' ORDER BY line)) AS shape FROM (
    SELECT concat_ws(' ', 'relation', oid, relname, relowner, relacl, relchecks, reloptions) AS line
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT concat_ws(' ', 'column', attrelid, attnum, attname, atttypid, attnotnull,
      pg_get_expr(adbin, adrelid))
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat_ws(' ', 'constraint', oid, conname, convalidated) FROM pg_constraint
    UNION ALL SELECT concat_ws(' ', 'index', indexrelid, indisvalid) FROM pg_index
    UNION ALL SELECT 'trigger ' || oid FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT concat_ws(' ', 'function', oid, md5(prosrc))
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname !~ '^pg_'
    UNION ALL SELECT concat_ws(' ', 'setting', setdatabase, setrole, setconfig) FROM pg_db_role_setting
    UNION ALL SELECT 'role ' || rolname FROM pg_roles
    UNION ALL SELECT 'migration ' || version FROM schema_migrations
  ) AS lines`;

/** Tables that have, or had, rows, and whether others refer to them. */
const USED = `
  SELECT quote_ident(relname) AS name, pg_relation_size(oid) AS bytes, EXISTS (
    SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid = pg_class.oid) AS is_referred
  FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '${SEEDED}'
    AND pg_relation_size(oid) > 0`;
/** A table to which others refer is emptied with all of these, 5 ms for each, unless it is this small. */
const DELETED_BYTES_MAX = 65_536;
const RESTART = "SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence";
/** Has the planner forget what it knows of their values, and how many rows it has seen in them: -1 stands for never. */
const FORGET = `
  DELETE FROM pg_statistic WHERE starelid IN
    (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace);
  UPDATE pg_class SET reltuples = -1, relpages = 0
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples <> -1`;

/** What a test holds of the kept database; closing it closes nothing else. */
class HeldDatabase implements Database {
  readonly engine = "embedded";
  #isClosed = false;

  constructor(readonly kept: EmbeddedDatabase) {}

  get disk() {
    return this.kept.disk;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #do<T>(act: (kept: Database) => Promise<T>): Promise<T> {
    return this.#isClosed
      ? Promise.reject(new DatabaseUnavailable("The database has been closed"))
      : act(this.kept);
  }

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#do((kept) => kept.query<R>(text, params));
  }

  binary(text: string, params?: readonly Param[]) {
    return this.#do((kept) => kept.binary(text, params));
  }

  script(text: string): Promise<void> {
    return this.#do((kept) => kept.script(text));
  }

  transaction<T>(
    work: (sql: Sql) => Promise<T>,
    ...others: [signal?: AbortSignal, settings?: Settings]
  ): Promise<T> {
    return this.#do((kept) => kept.transaction(work, ...others));
  }

  ping(): Promise<void> {
    return this.#do((kept) => kept.ping());
  }

  async rest(msMax: number): Promise<void> {
    await this.kept.rest?.(msMax);
  }

  /** Waits for the turns asked for before, as the engine itself does. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.kept.query("SELECT").catch(() => {});
  }
}

interface Kept {
  readonly database: EmbeddedDatabase;
  readonly dataDir: string;
  readonly shape: string;
}

const shapeOf = async (sql: Sql) => (await sql.query<{ shape: string }>(SHAPE))[0]!.shape;

let kept: Kept | null = null;

async function start(): Promise<Kept> {
  await keepEngine();
  const dataDir = await makeDataDir("footfall-kept-");
  const database = await openEmbedded(dataDir, { statementTimeoutMs: 15_000 });
  return { database, dataDir, shape: await shapeOf(database) };
}

async function end(): Promise<void> {
  if (kept === null) return;
  const { database, dataDir } = kept;
  kept = null;
  await database.close();
  await Deno.remove(dataDir, { recursive: true });
}

interface UsedTable extends Row {
  readonly name: string;
  readonly bytes: number;
  readonly is_referred: boolean;
}

async function empty(sql: Sql): Promise<void> {
  const used = await sql.query<UsedTable>(USED);
  const isDeleted = ({ is_referred, bytes }: UsedTable) =>
    is_referred && bytes <= DELETED_BYTES_MAX;
  const truncated = used.filter((table) => !isDeleted(table)).map(({ name }) => name);
  if (truncated.length > 0) await sql.script(`TRUNCATE ${truncated} CASCADE`);
  const deleted = used.filter(isDeleted).map(({ name }) => name);
  if (deleted.length > 0) {
    const all = deleted.map((name) => `DELETE FROM ${name}`).join(";");
    // In any order, whichever of them refers to another.
    await sql.script(
      `SET session_replication_role = replica; ${all}; RESET session_replication_role`,
    );
    await sql.script(`VACUUM ${deleted}`);
  }
}

/** Makes the kept database as a new one is. @returns false: a test has changed more than rows */
async function renew({ database, shape }: Kept): Promise<boolean> {
  await database.script("DISCARD ALL");
  if (await shapeOf(database) !== shape) return false;
  await empty(database);
  await database.query(RESTART);
  await database.script(FORGET);
  return true;
}

let isPlanned = false;

/** Has the database that tests of an entry (`run_all.ts`) used closed after the last of them. */
export function planKeptDatabase(): void {
  if (isPlanned) return;
  isPlanned = true;
  Deno.test.afterAll(end);
}

/**
 * Has `work` open a database of the present schema on the embedded engine: empty, of an engine that is kept from test to
 * test, and opened once at a time. A new one takes 0.5 s of a processor, to empty this one 0.04.
 */
export async function withKeptDatabase(
  work: (open: () => Promise<Database>) => Promise<void>,
): Promise<void> {
  const { database } = kept ??= await start();
  let held: HeldDatabase | null = null;
  try {
    await work(() => {
      if (held !== null && !held.isClosed) return Promise.reject(new Error("It is open already"));
      return Promise.resolve(held = new HeldDatabase(database));
    });
  } finally {
    await (held as HeldDatabase | null)?.close();
    // What cannot be renewed, as after a test that has ended the engine, is replaced.
    if (!await renew(kept).catch(() => false)) await end();
  }
}
