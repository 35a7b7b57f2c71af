import { isRefused, UNIQUE_VIOLATION } from "../db/refusal.ts";
import { DatabaseUnavailable, type Sql, StatementRefused } from "../db/sql.ts";
import {
  FLUSH_BYTES_MAX,
  FLUSH_ROWS_MAX,
  FLUSHES_CHECKED,
  QUEUED_BYTES_MAX,
  QUEUED_ROWS_MAX,
} from "../limits.ts";
import { type Problem, retryable } from "../problem.ts";
import { hasEarlierEvents, insertEvents, insertNewEvents, keyOf } from "./event_insert.ts";
import {
  FLUSH_BESIDE_MS,
  FLUSH_BESIDE_ROWS_MIN,
  QUEUED_BY_ONE_SHARE_MAX,
} from "./ingest_limits.ts";
import { whenGathered } from "./when_gathered.ts";
import type { EventRow } from "../store/event_row.ts";

/** The result of storing a request's rows. */
export interface Written {
  /** How many of them were stored before, or are twice in the request. */
  readonly duplicates: number;
  /** The ids that the database refused; the others are stored. */
  readonly refused: ReadonlySet<string>;
}

/** A request's rows, waiting for a flush. */
interface Waiting {
  readonly rows: readonly EventRow[];
  readonly bytes: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

interface WriterOptions {
  readonly flushesAtOnce: number;
  readonly queuedRowsMax?: number;
  readonly queuedBytesMax?: number;
  /** The time after which a flush counts as slow; the default is FLUSH_BESIDE_MS. */
  readonly besideMs?: number;
  /** Called after each flush that committed. */
  readonly observe: (flush: { rows: number; requests: number; seconds: number }) => void;
}

const NOTHING_REFUSED: ReadonlySet<string> = new Set();
/** SQLSTATE classes of errors that rows can cause: a value, a constraint, a program limit. */
const ABOUT_ROWS = /^(22|23|54)/;
/** undefined_table: the upgrade is done, and has dropped the table of earlier events. */
const UNDEFINED_TABLE = "42P01";
/** Also deadlock_detected and serialization_failure: the same insert succeeds when it is run again. */
const TRANSIENT = new Set([UNDEFINED_TABLE, "40P01", "40001"]);
const TRANSIENT_TRIES_MAX = 5;

/** Rolls back a trial insert. */
class Undo extends Error {}

/**
 * Stores rows by group commit: while a flush is running, requests gather for the next one; each request
 * resolves when the flush with its rows has committed. Under low load no request waits.
 */
export class Writer {
  readonly #rowsMax: number;
  readonly #bytesMax: number;
  #queue: Waiting[] = [];
  #queuedRows = 0;
  /** Rows and bytes that wait or are being written. */
  #rows = 0;
  #bytes = 0;
  /** The same by project. */
  readonly #byProject = new Map<number, { rows: number; bytes: number }>();
  #flushing = 0;
  /** How many of the running flushes are slow. */
  #slow = 0;
  #waking = false;
  #idle: (() => void)[] = [];
  /** Whether `earlier_events`, of an unfinished upgrade, still exists; null: not known yet. */
  #hasEarlier: boolean | null = null;
  /** How many of the next flushes are checked for events that were stored before. */
  #flushesToCheck = 0;

  constructor(private readonly sql: Sql, private readonly options: WriterOptions) {
    this.#rowsMax = options.queuedRowsMax ?? QUEUED_ROWS_MAX;
    this.#bytesMax = options.queuedBytesMax ?? QUEUED_BYTES_MAX;
  }

  /** Rows that wait or are being written. */
  get depth(): number {
    return this.#rows;
  }

  /** Whether the queue is full; to be checked before any work for a request. */
  get full(): boolean {
    return this.#rows >= this.#rowsMax || this.#bytes >= this.#bytesMax;
  }

  /** Whether it is full for a project, as each must leave a share of it to the others. */
  isFullFor(projectId: number): boolean {
    const { rows = 0, bytes = 0 } = this.#byProject.get(projectId) ?? {};
    return this.full || rows > this.#rowsMax * QUEUED_BY_ONE_SHARE_MAX ||
      bytes > this.#bytesMax * QUEUED_BY_ONE_SHARE_MAX;
  }

  /** Returns the reply to a request while the queue is full. */
  static overloaded(): Problem {
    return retryable("overloaded", "Too many events are waiting to be stored. Try again shortly.");
  }

  /**
   * Stores the rows of a request: all of them or none. Resolves after the commit.
   * @param bytes about how much memory the rows take
   * Throws `overloaded` if the queue is full for the first row's project, DatabaseUnavailable if nothing could be
   * stored, or if that is unknown: repeating the request is safe.
   */
  write(rows: readonly EventRow[], bytes: number): Promise<Written> {
    const [first] = rows;
    if (first === undefined) return Promise.resolve({ duplicates: 0, refused: NOTHING_REFUSED });
    if (this.isFullFor(first.project_id)) return Promise.reject(Writer.overloaded());
    this.#count(first.project_id, rows.length, bytes);
    this.#queuedRows += rows.length;
    return new Promise((resolve, reject) => {
      this.#queue.push({ rows, bytes, resolve, reject });
      this.#pumpSoon();
    });
  }

  /** Adds a request's rows and bytes to those that wait; negative ones remove them again. */
  #count(projectId: number, rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    const own = this.#byProject.getOrInsertComputed(projectId, () => ({ rows: 0, bytes: 0 }));
    own.rows += rows;
    own.bytes += bytes;
    if (own.rows === 0) this.#byProject.delete(projectId);
  }

  /** Resolves when all requests so far are settled. */
  async drain(): Promise<void> {
    while (this.#flushing > 0 || this.#queue.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /**
   * Whether the waiting requests may be flushed. While another flush is running, there must be enough rows for a
   * statement, unless that flush is slow, such as one that waits for a lock.
   */
  #mayFlush(): boolean {
    if (this.#queue.length === 0 || this.#flushing >= this.options.flushesAtOnce) return false;
    return this.#flushing === this.#slow || this.#queuedRows >= FLUSH_BESIDE_ROWS_MIN;
  }

  /** Flushes the waiting requests once those that are arriving have gathered. */
  #pumpSoon(): void {
    if (this.#waking || !this.#mayFlush()) return;
    this.#waking = true;
    whenGathered(() => this.#queuedRows, () => {
      this.#waking = false;
      while (this.#mayFlush()) this.#flushNext();
    });
  }

  #flushNext(): void {
    const group = this.#take();
    this.#flushing++;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.#slow++;
      this.#pumpSoon();
    }, this.options.besideMs ?? FLUSH_BESIDE_MS);
    this.#flush(group).finally(() => {
      clearTimeout(timer);
      if (isSlow) this.#slow--;
      this.#flushing--;
      for (const { rows, bytes } of group) this.#count(rows[0]!.project_id, -rows.length, -bytes);
      this.#pumpSoon();
      if (this.#flushing === 0) this.#idle.splice(0).forEach((wake) => wake());
    });
  }

  /**
   * Takes whole requests from the head of the queue, up to FLUSH_ROWS_MAX rows and FLUSH_BYTES_MAX bytes, but at
   * least one. A large request that does not fit is left to the next flush, so that small ones do not wait for it.
   */
  #take(): Waiting[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      rows += waiting.rows.length;
      bytes += waiting.bytes;
      if (count > 0 && (rows > FLUSH_ROWS_MAX || bytes > FLUSH_BYTES_MAX)) break;
      count++;
    }
    const group = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    for (const waiting of group) this.#queuedRows -= waiting.rows.length;
    return group;
  }

  /** Settles every request of the group; never rejects. */
  async #flush(group: readonly Waiting[]): Promise<void> {
    const startedAt = performance.now();
    try {
      const gathered = new Gathered(group);
      const known = await this.#insert(gathered);
      const { length: rows } = known === null ? gathered.rows : gathered.distinct.rows;
      const seconds = (performance.now() - startedAt) / 1000;
      this.options.observe({ rows, requests: group.length, seconds });
      group.forEach((waiting, i) => {
        const duplicates = known === null ? 0 : gathered.duplicatesOf(i, known);
        waiting.resolve({ duplicates, refused: NOTHING_REFUSED });
      });
    } catch (error) {
      if (error instanceof StatementRefused) await this.#split(group);
      else group.forEach((waiting) => waiting.reject(error));
    }
  }

  /** @returns the keys that were stored before; null: every event is new and occurs once */
  #insert(gathered: Gathered): Promise<Set<string> | null> {
    return untilStored(async () => {
      const besideEarlier = this.#hasEarlier ??= await hasEarlierEvents(this.sql);
      try {
        return await this.#insertOnce(gathered, besideEarlier);
      } catch (error) {
        if (isRefused(error, UNDEFINED_TABLE)) this.#hasEarlier = null;
        throw error;
      }
    });
  }

  /**
   * Stores a flush as if all of its events were new, as most are: that saves a quarter of the database's work, and
   * checking ids here. If that fails, this flush is checked for known and repeated events, and so are the next
   * ones, since replays seldom come alone.
   */
  async #insertOnce(gathered: Gathered, besideEarlier: boolean): Promise<Set<string> | null> {
    if (this.#flushesToCheck === 0 && !besideEarlier) {
      try {
        await insertNewEvents(this.sql, gathered.rows);
        return null;
      } catch (error) {
        if (!isRefused(error, UNIQUE_VIOLATION)) throw error;
      }
    }
    const { rows } = gathered.distinct;
    const known = await insertEvents(this.sql, rows, besideEarlier);
    this.#flushesToCheck = known.size > 0 || rows.length < gathered.rows.length
      ? FLUSHES_CHECKED
      : Math.max(0, this.#flushesToCheck - 1);
    return known;
  }

  /** Retries a refused flush in halves, so that one request's bad row affects no other request. */
  async #split(group: readonly Waiting[]): Promise<void> {
    const [only] = group;
    if (group.length > 1) {
      const half = group.length >> 1;
      await this.#flush(group.slice(0, half));
      await this.#flush(group.slice(half));
    } else if (only !== undefined) {
      try {
        only.resolve(await this.#writeWithoutRefused(only));
      } catch (error) {
        only.reject(error);
      }
    }
  }

  /** Finds the refused rows of a request by trial inserts, and stores the others in one commit. */
  async #writeWithoutRefused(waiting: Waiting): Promise<Written> {
    const { rows } = new Gathered([waiting]).distinct;
    const refused = new Set<string>();
    const seek = async (part: readonly EventRow[]): Promise<void> => {
      if (await this.#accepts(part)) return;
      const [row] = part;
      if (part.length === 1 && row !== undefined) refused.add(row.event_id);
      else {
        const half = part.length >> 1;
        await seek(part.slice(0, half));
        await seek(part.slice(half));
      }
    };
    await seek(rows);
    const good = rows.filter((row) => !refused.has(row.event_id));
    const known = good.length === 0 ? null : await this.#insert(new Gathered([{ rows: good }]));
    const sent = waiting.rows.filter((row) => !refused.has(row.event_id)).length;
    return { duplicates: sent - good.length + (known?.size ?? 0), refused };
  }

  /** Whether the database would store these rows. */
  async #accepts(rows: readonly EventRow[]): Promise<boolean> {
    const insert = () =>
      this.sql.transaction(async (sql) => {
        await insertEvents(sql, rows, false);
        throw new Undo();
      });
    try {
      await untilStored(insert);
    } catch (error) {
      if (error instanceof StatementRefused) return false;
      if (!(error instanceof Undo)) throw error;
    }
    return true;
  }
}

/**
 * Runs an insert, and repeats it after a transient error. Throws StatementRefused for errors that rows can cause.
 * All other refusals (a privilege, the schema, a time limit) are thrown as DatabaseUnavailable: the same rows can
 * be stored once the cause is fixed.
 */
async function untilStored<T>(insert: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await insert();
    } catch (error) {
      if (!(error instanceof StatementRefused) || ABOUT_ROWS.test(error.sqlState)) throw error;
      const { message, sqlState } = error;
      if (TRANSIENT.has(sqlState) && attempt < TRANSIENT_TRIES_MAX) continue;
      const reason = `The database does not store events: ${message} (${sqlState})`;
      throw new DatabaseUnavailable(reason, { cause: error });
    }
  }
}

interface Distinct {
  /** The first occurrence of each event, in the order of arrival. */
  readonly rows: readonly EventRow[];
  /** By request: its rows that are first occurrences. */
  readonly own: readonly (readonly EventRow[])[];
}

/** The rows of the requests of one flush. */
class Gathered {
  /** All rows, in the order of arrival. */
  readonly rows: readonly EventRow[];
  #distinct: Distinct | null = null;

  constructor(private readonly group: readonly Pick<Waiting, "rows">[]) {
    this.rows = group.flatMap(({ rows }) => rows);
  }

  /** Computed only when needed, since ids seldom repeat: checking one takes 1 µs of the 33 per event. */
  get distinct(): Distinct {
    return this.#distinct ??= distinct(this.group);
  }

  /** Counts the rows of one request that were stored before, in this flush or an earlier one. */
  duplicatesOf(request: number, known: ReadonlySet<string>): number {
    const own = this.distinct.own[request]!;
    const repeated = this.group[request]!.rows.length - own.length;
    return repeated + (known.size === 0 ? 0 : own.filter((row) => known.has(keyOf(row))).length);
  }
}

function distinct(group: readonly Pick<Waiting, "rows">[]): Distinct {
  const idsOf = new Map<number, Set<string>>();
  const isNew = ({ project_id, event_id }: EventRow): boolean => {
    let ids = idsOf.get(project_id);
    if (ids === undefined) idsOf.set(project_id, ids = new Set());
    const { size } = ids;
    return ids.add(event_id).size > size;
  };
  const own = group.map(({ rows }) => rows.filter(isNew));
  return { rows: own.flat(), own };
}
