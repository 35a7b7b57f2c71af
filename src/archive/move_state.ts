import { join } from "node:path";
import type { Database } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { Problem } from "../problem.ts";
import { MOVE_LEASE_MS } from "./archive_limits.ts";

/**
 * The progress of a move to another database: `copying`, while nothing is erased and nothing expires;
 * `paused`, while nothing is stored; `moved`, for good.
 */
type MoveStatus = "none" | "copying" | "paused" | "moved";

/** The content of `moved.json` in DATA_DIR; the database itself is left as it was. */
interface Moved {
  /** The address without user and password. */
  readonly to: string;
  readonly at: string;
}

const FILE = "moved.json";
/** The file with the id of the source, by which a target knows it, however often a move is begun. */
const ID_FILE = "move.json";

async function readJsonFile<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await Deno.readTextFile(path)) as T;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const fresh = `${path}.${Deno.pid}`;
  using file = await Deno.open(fresh, { create: true, truncate: true, write: true, mode: 0o600 });
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await file.write(rest));
  await file.sync();
  await Deno.rename(fresh, path);
}

/** The progress of moving the embedded database elsewhere. Nothing of it is written to the database. */
export class MoveState {
  readonly #dataDir: string;
  readonly #database: Pick<Database, "script">;
  readonly #log: Pick<Log, "warn">;
  #status: MoveStatus = "none";
  #moved: Moved | null = null;
  #lease: ReturnType<typeof setTimeout> | undefined;
  #whenMoved: (() => void) | null = null;
  #whenPausing: (() => Promise<void>) | null = null;
  /** The last change; changes are made one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(dataDir: string, database: Pick<Database, "script">, log: Pick<Log, "warn">) {
    this.#dataDir = dataDir;
    this.#database = database;
    this.#log = log;
  }

  /** Reads the state that the last process left. */
  static async open(
    dataDir: string,
    database: Pick<Database, "script">,
    log: Pick<Log, "warn">,
  ): Promise<MoveState> {
    const state = new MoveState(dataDir, database, log);
    const moved = await readJsonFile<Moved>(join(dataDir, FILE));
    if (moved !== null) state.#keep(moved);
    return state;
  }

  get status(): MoveStatus {
    return this.#status;
  }

  /** Whether nothing more is stored here, for now or for good. */
  get isStill(): boolean {
    return this.#status === "paused" || this.#status === "moved";
  }

  get to(): string | null {
    return this.#moved?.to ?? null;
  }

  /** Begins or continues a move, for MOVE_LEASE_MS. @returns the id of this source */
  begin(randomText: (length: number) => string): Promise<string> {
    return this.#inTurn(async () => {
      if (this.#status === "moved") throw this.refusal();
      this.#take(this.#status === "paused" ? "paused" : "copying");
      const path = join(this.#dataDir, ID_FILE);
      const known = await readJsonFile<{ id: string }>(path);
      if (known !== null) return known.id;
      const id = randomText(22);
      await writeJsonFile(path, { id });
      return id;
    });
  }

  /** For MOVE_LEASE_MS nothing more is stored; resolves once all writes under way are done. */
  pause(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#status === "none" || this.#status === "moved") throw this.refusal();
      const wasPaused = this.#status === "paused";
      this.#take("paused");
      if (wasPaused) return;
      try {
        await this.#whenPausing?.();
        // Waiting takes nothing of the lease.
        this.#take("paused");
        await this.#database.script("SET default_transaction_read_only = on");
      } catch (error) {
        // The next try would find it paused, and the database not only read.
        await this.#end();
        throw error;
      }
    });
  }

  /** Gives the move up: everything is as before. */
  cancel(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  /** Ends the pause: the database has moved to another server. */
  complete(to: string, nowMs: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#status !== "paused") throw this.refusal();
      const moved = { to, at: new Date(nowMs).toISOString() };
      await writeJsonFile(join(this.#dataDir, FILE), moved);
      clearTimeout(this.#lease);
      this.#keep(moved);
      this.#whenMoved?.();
    });
  }

  /** Sets what is waited for, less than MOVE_LEASE_MS, before the database is only read: it notes what it did. */
  onPause(call: () => Promise<void>): void {
    this.#whenPausing = call;
  }

  /** Sets a function that is called once the server has moved. */
  onMoved(call: () => void): void {
    this.#whenMoved = call;
  }

  /** Returns the reply to requests that would change something now. */
  refusal(): Problem {
    const headers = { "Retry-After": "2" };
    if (this.#status === "moved") {
      const detail =
        "The server has moved to another database. Send the request again, to the new server.";
      return new Problem("moved", detail, { headers });
    }
    return this.#status === "none"
      ? new Problem("conflict", "No move is under way, or it has taken too long. Begin it again.")
      : new Problem(
        "moving",
        "The server is being moved to another database. Send the request again in some seconds.",
        { headers },
      );
  }

  close(): void {
    clearTimeout(this.#lease);
  }

  /** Tells the operator alone where to: the address is one of the operator's own network. */
  #keep(moved: Moved): void {
    this.#moved = moved;
    this.#status = "moved";
    this.#log.warn(
      "The server has moved: stop it, and start it with this DATABASE_URL (with the user and the " +
        "password)",
      { databaseUrl: moved.to },
    );
  }

  #take(status: MoveStatus): void {
    clearTimeout(this.#lease);
    this.#status = status;
    this.#lease = setTimeout(() => void this.cancel().catch(() => {}), MOVE_LEASE_MS);
  }

  async #end(): Promise<void> {
    if (this.#status === "moved") return;
    clearTimeout(this.#lease);
    const wasPaused = this.#status === "paused";
    this.#status = "none";
    if (wasPaused) await this.#database.script("SET default_transaction_read_only = off");
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}
