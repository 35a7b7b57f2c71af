import { join } from "node:path";
import type { Database } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { Problem } from "../problem.ts";
import { MOVE_LEASE_MS } from "./archive_limits.ts";

/**
 * The state of a move to another database: `copying`: nothing is erased, and nothing expires; `paused`: nothing
 * is stored; `moved`: for good.
 */
type MoveStatus = "none" | "copying" | "paused" | "moved";

/** The content of `moved.json` in DATA_DIR; the database itself is left as it was. */
interface Moved {
  /** The address without user and password. */
  readonly to: string;
  readonly at: string;
}

const FILE = "moved.json";
/** The file with the id of this source: the target recognises the source by it in every run. */
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

/** The state of moving the embedded database elsewhere. It is kept in files, not in the database. */
export class MoveState {
  #status: MoveStatus = "none";
  #moved: Moved | null = null;
  #lease: ReturnType<typeof setTimeout> | undefined;
  #whenMoved: (() => void) | null = null;
  #whenPausing: (() => Promise<void>) | null = null;
  /** The last change that was asked for: changes are made one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly dataDir: string,
    private readonly database: Pick<Database, "script">,
    private readonly log: Pick<Log, "warn">,
  ) {}

  /** Reads the state that the last process left. */
  static async open(
    dataDir: string,
    database: Pick<Database, "script">,
    log: Pick<Log, "warn">,
  ): Promise<MoveState> {
    const state = new MoveState(dataDir, database, log);
    const moved = await readJsonFile<Moved>(join(dataDir, FILE));
    if (moved !== null) state.#enterMoved(moved);
    return state;
  }

  get status(): MoveStatus {
    return this.#status;
  }

  /** Whether nothing is stored here, for now or for good. */
  get storesNothing(): boolean {
    return this.#status === "paused" || this.#status === "moved";
  }

  get to(): string | null {
    return this.#moved?.to ?? null;
  }

  /** Begins a move, or prolongs it, for MOVE_LEASE_MS. @returns the id of this source */
  begin(randomText: (length: number) => string): Promise<string> {
    return this.#inTurn(async () => {
      if (this.#status === "moved") throw this.refusal();
      this.#enter(this.#status === "paused" ? "paused" : "copying");
      const path = join(this.dataDir, ID_FILE);
      const known = await readJsonFile<{ id: string }>(path);
      if (known !== null) return known.id;
      const id = randomText(22);
      await writeJsonFile(path, { id });
      return id;
    });
  }

  /** Stops storing for MOVE_LEASE_MS, or prolongs that. Resolves once all writes under way are done. */
  pause(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#status === "none" || this.#status === "moved") throw this.refusal();
      const wasPaused = this.#status === "paused";
      this.#enter("paused");
      if (wasPaused) return;
      try {
        await this.#whenPausing?.();
        // Entered again, so that the lease begins after the wait.
        this.#enter("paused");
        await this.database.script("SET default_transaction_read_only = on");
      } catch (error) {
        // Otherwise the next attempt would find it paused, with a database that is not read-only.
        await this.#end();
        throw error;
      }
    });
  }

  /** Ends the move without a result: everything is as before. */
  cancel(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  /** Ends the pause: the database has moved to another server. */
  complete(to: string, nowMs: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#status !== "paused") throw this.refusal();
      const moved = { to, at: new Date(nowMs).toISOString() };
      await writeJsonFile(join(this.dataDir, FILE), moved);
      clearTimeout(this.#lease);
      this.#enterMoved(moved);
      this.#whenMoved?.();
    });
  }

  /** Sets a function that a pause waits for, less than MOVE_LEASE_MS, before the database becomes read-only. */
  onPause(call: () => Promise<void>): void {
    this.#whenPausing = call;
  }

  /** Sets a function that is called once the server has moved. */
  onMoved(call: () => void): void {
    this.#whenMoved = call;
  }

  /** Returns the reply to requests that would change something in this state. */
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

  /** Logs the new address, and shows it to the operator only: it is in the operator's own network. */
  #enterMoved(moved: Moved): void {
    this.#moved = moved;
    this.#status = "moved";
    this.log.warn(
      "The server has moved: stop it, and start it with this DATABASE_URL (with the user and the " +
        "password)",
      { databaseUrl: moved.to },
    );
  }

  #enter(status: MoveStatus): void {
    clearTimeout(this.#lease);
    this.#status = status;
    this.#lease = setTimeout(() => void this.cancel().catch(() => {}), MOVE_LEASE_MS);
  }

  async #end(): Promise<void> {
    if (this.#status === "moved") return;
    clearTimeout(this.#lease);
    const wasPaused = this.#status === "paused";
    this.#status = "none";
    if (wasPaused) await this.database.script("SET default_transaction_read_only = off");
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}
