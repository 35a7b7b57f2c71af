import { storedRows } from "../../tests/support/event_rows.ts";
import { join } from "node:path";
import { SignJWT } from "jose";
import type { Sql } from "../../src/db/sql.ts";
import { openDatabase } from "../../src/db/open.ts";
import {
  API_KEY,
  JWT_SECRET,
  pause,
  type ServerOptions,
  ServerProcess,
} from "../../tests/support/server_process.ts";
import {
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../../tests/support/throwaway_postgres.ts";
import { peakMemoryBytes } from "../process_figures.ts";
import type { Engine, Felt, Row } from "./row.ts";
import { Users } from "./users.ts";

/** One thing that somebody may do to a server, or that may befall it. */
export interface Attack {
  /** As `--only` names it. */
  readonly name: string;
  readonly engines: readonly Engine[];
  readonly server?: ServerOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** The database lies on a file system of so many MiB. */
  readonly diskMebibytes?: number;
  /** How the users behave, where it is not as usual. */
  readonly users?: Partial<UsersAtWork>;
  /** Attacks, and comes back when the attack is over. @returns what else was seen */
  readonly run: (field: Field) => Promise<string>;
}

export interface UsersAtWork {
  readonly writers: number;
  readonly writePauseMs: number;
  readonly readers: number;
  readonly readPauseMs: number;
}

/** What an attack finds. */
export interface Field {
  readonly engine: Engine;
  /** A tenth of the time, or of the events, suffices. */
  readonly short: boolean;
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly server: ServerProcess;
  readonly users: Users;
  readonly cluster: ThrowawayPostgres | null;
  /** The folder on the file system of the database. */
  readonly folder: string;
  progress(text: string): void;
  /** Kills the server and starts it again on the same database. */
  restart(): Promise<void>;
}

export const PROJECT = "prj_default";

const USUAL: UsersAtWork = { writers: 4, writePauseMs: 40, readers: 1, readPauseMs: 500 };
const RECOVERY_MS_MAX = 60_000;
const PROMPT_MS = 1_000;
const PROMPT_REPLIES = 5;
const WARM_REPLIES = 40;

/** A file system in memory, unmounted and deleted when disposed. Needs root. */
class Disk implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async make(mebibytes: number): Promise<Disk> {
    const folder = await Deno.makeTempDir({ prefix: "footfall-attack-disk-" });
    await run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0777`, "tmpfs", folder);
    return new Disk(folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("umount", "-l", this.folder);
    await Deno.remove(this.folder);
  }
}

/** A token with every scope, issued two hours ago: it holds when the clock is turned back too. */
function tokenOfEarlier(): Promise<string> {
  return new SignJWT({ projects: ["*"], scope: "read write jobs admin" })
    .setProtectedHeader({ alg: "HS256" }).setSubject("attack")
    .setIssuedAt(Math.floor(Date.now() / 1000) - 7_200).setExpirationTime("12h")
    .sign(new TextEncoder().encode(JWT_SECRET));
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr).trim()}`);
}

/** The server on a fresh database of one engine, with users on it; everything goes when disposed. */
class Battlefield implements Field, AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly progress: (text: string) => void;
  cluster: ThrowawayPostgres | null = null;
  folder = "";
  token = "";
  peakBytes = 0;
  server!: ServerProcess;
  users!: Users;
  #env: Record<string, string> = {};

  private constructor(
    readonly attack: Attack,
    readonly engine: Engine,
    readonly short: boolean,
  ) {
    this.progress = (text) => console.error(`  ${attack.name} [${engine}] ${text}`);
  }

  static async make(attack: Attack, engine: Engine, short: boolean): Promise<Battlefield> {
    const field = new Battlefield(attack, engine, short);
    try {
      await field.#open();
      return field;
    } catch (error) {
      await field[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return this.server.url;
  }

  get port(): number {
    return this.server.port;
  }

  readonly restart = async (): Promise<void> => {
    this.#notePeak();
    await this.server.kill();
    await this.#start();
    this.users.target(this.url);
  };

  /** The peak over all processes that the server has had. */
  peak(): number {
    this.#notePeak();
    return this.peakBytes;
  }

  async openDatabase(): Promise<Sql & AsyncDisposable> {
    const database = await openDatabase({
      databaseUrl: this.#env.DATABASE_URL ?? null,
      dataDir: this.#env.DATA_DIR!,
      statementTimeoutMs: 60_000,
      connectionsMax: 2,
    });
    return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #open(): Promise<void> {
    const { attack, engine } = this;
    this.folder = attack.diskMebibytes === undefined
      ? await Deno.makeTempDir({ prefix: "footfall-attack-" })
      : this.#stack.use(await Disk.make(attack.diskMebibytes)).folder;
    if (attack.diskMebibytes === undefined) {
      this.#stack.defer(() => Deno.remove(this.folder, { recursive: true }));
    }
    // PostgreSQL runs as another user where this runs as root.
    await Deno.chmod(this.folder, 0o755);
    this.#env = { DATA_DIR: join(this.folder, "data"), ...attack.env };
    if (engine === "postgres") {
      const cluster = await startPostgres({ parent: this.folder });
      this.cluster = cluster;
      this.#stack.defer(() => cluster.remove());
      this.#env.DATABASE_URL = (await freshDatabase(cluster)).url;
    }
    this.token = await tokenOfEarlier();
    this.#stack.defer(async () => await this.server?.[Symbol.asyncDispose]().catch(() => {}));
    await this.#start();
    this.users = this.#stack.use(
      new Users({
        url: this.url,
        apiKey: API_KEY,
        token: this.token,
        project: PROJECT,
        ...USUAL,
        ...attack.users,
      }),
    );
  }

  async #start(): Promise<void> {
    this.server = new ServerProcess(this.#env, this.attack.server);
    await this.server.ready();
  }

  #notePeak(): void {
    try {
      this.peakBytes = Math.max(this.peakBytes, peakMemoryBytes(this.server.pid) || 0);
    } catch {
      // It has ended.
    }
  }
}

const isWell = ({ attempts, refused, worstMs }: Felt) =>
  attempts > 0 && refused === 0 && worstMs < PROMPT_MS;

/** Since when both writes and reads are answered at once. */
async function recovery(users: Users): Promise<number | null> {
  const startedAt = performance.now();
  let wellSince: number | null = null;
  let replies = 0;
  while (performance.now() - startedAt < RECOVERY_MS_MAX) {
    const { writes, reads } = await users.felt();
    const isBad = (felt: Felt) => felt.attempts > 0 && !isWell(felt);
    if (isBad(writes) || isBad(reads)) [wellSince, replies] = [null, 0];
    else if (isWell(writes)) {
      wellSince ??= performance.now();
      replies += writes.attempts;
      if (replies >= PROMPT_REPLIES) return wellSince - startedAt;
    }
    await pause(100);
  }
  return null;
}

/** Until the users have had their first replies: those of a new server take longer. */
async function warmUp(users: Users): Promise<void> {
  const startedAt = performance.now();
  let replies = 0;
  while (replies < WARM_REPLIES && performance.now() - startedAt < RECOVERY_MS_MAX) {
    await pause(200);
    replies += (await users.felt()).writes.attempts;
  }
}

/** @returns how many of the acknowledged events are not stored, exactly once */
async function lostOf(field: Battlefield): Promise<number> {
  const acknowledged = await field.users.finish();
  await field.server.stop();
  await using sql = await field.openDatabase();
  const rows = await storedRows(sql);
  const times = new Map<string, number>();
  for (const { event_id } of rows) times.set(event_id, (times.get(event_id) ?? 0) + 1);
  return acknowledged.filter((id) => times.get(id) !== 1).length;
}

let underWay: Battlefield | null = null;

/** Ends what is under way, and leaves nothing of it behind. */
export async function abandon(): Promise<void> {
  await underWay?.[Symbol.asyncDispose]();
}

/** Lets users work in peace, then during the attack, then until all is well again. */
export async function stage(attack: Attack, engine: Engine, short: boolean): Promise<Row> {
  await using field = await Battlefield.make(attack, engine, short);
  underWay = field;
  await warmUp(field.users);
  await pause(short ? 3_000 : 10_000);
  const quiet = await field.users.felt();
  field.progress("begins");
  let note = await attack.run(field);
  const { writes, reads } = await field.users.felt();
  field.progress("is over");
  const recoveryMs = await recovery(field.users);
  const peakBytes = field.peak();
  let lost: number | null = null;
  try {
    lost = await lostOf(field);
  } catch (error) {
    note += ` ${String(error).split("\n", 1)[0]!.slice(0, 200)}`;
  }
  const row = { attack: attack.name, engine, quiet: quiet.writes, writes, reads };
  return { ...row, peakBytes, recoveryMs, lost, note };
}
