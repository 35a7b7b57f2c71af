import { setImmediate } from "node:timers";
import { DatabaseUnavailable, type Sql, StatementRefused } from "../db/sql.ts";
import {
  FLUSH_BYTES_MAX,
  FLUSH_ROWS_MAX,
  FLUSHES_LOOKED_THROUGH,
  QUEUED_BYTES_MAX,
  QUEUED_ROWS_MAX,
  RETRY_AFTER_S,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import { hasEarlierEvents, insertEvents, insertNewEvents, keyOf } from "./event_insert.ts";
import type { EventRow } from "../store/event_row.ts";

/** What became of one request's rows. */
export interface Written {
  /** How many of them were stored before, or stand twice in the request. */
  readonly duplicates: number;
  /** Ids that the database itself refused; the others are stored. */
  readonly refused: ReadonlySet<string>;
}

/** One request's rows, waiting for a flush. */
interface Waiting {
  readonly rows: readonly EventRow[];
  readonly bytes: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriterOptions {
  readonly flushesAtOnce: number;
  readonly queuedRowsMax?: number;
  readonly queuedBytesMax?: number;
  /** Called after each flush that committed. */
  readonly observe: (flush: { rows: number; requests: number; seconds: number }) => void;
}

const NOTHING_REFUSED: ReadonlySet<string> = new Set();
/** deadlock_detected and serialization_failure: the same statement succeeds when run again. */
const TRANSIENT = new Set(["40P01", "40001"]);
const TRANSIENT_TRIES_MAX = 5;
/** unique_violation: an event of the flush was stored before. */
const KNOWN_EVENT = "23505";
/** undefined_table: the upgrade is done, and has dropped the table of earlier events. */
const UNDEFINED_TABLE = "42P01";
/** query_canceled: the statement took too long, which says nothing of its rows. */
const CANCELLED = "57014";

/** Undoes a trial insert. */
class Undo extends Error {}

/**
 * Group commit: while flushes are under way the next one gathers, and each request resolves when
 * the flush that holds its rows has committed. Under little load nothing waits for anything.
 */
export class Writer {
  readonly #sql: Sql;
  readonly #options: WriterOptions;
  readonly #rowsMax: number;
  readonly #bytesMax: number;
  #queue: Waiting[] = [];
  #rows = 0;
  #bytes = 0;
  #flushing = 0;
  #waking = false;
  #idle: (() => void)[] = [];
  /** Whether events of before an upgrade are still looked at; null: not known yet. */
  #hasEarlier: boolean | null = null;
  /** How many of the next flushes are looked through for events that were stored before. */
  #lookedThrough = 0;

  constructor(sql: Sql, options: WriterOptions) {
    this.#sql = sql;
    this.#options = options;
    this.#rowsMax = options.queuedRowsMax ?? QUEUED_ROWS_MAX;
    this.#bytesMax = options.queuedBytesMax ?? QUEUED_BYTES_MAX;
  }

  /** Rows that wait or are being written. */
  get depth(): number {
    return this.#rows;
  }

  /** Whether the queue could take one more request; asked before work is done for it. */
  get full(): boolean {
    return this.#rows >= this.#rowsMax || this.#bytes >= this.#bytesMax;
  }

  /** The answer to a request while the queue is full. */
  static overloaded(): Problem {
    return new Problem(
      "overloaded",
      "Too many events are waiting to be stored. Try again shortly.",
      {
        headers: { "Retry-After": String(RETRY_AFTER_S) },
      },
    );
  }

  /**
   * Stores the rows of one request: all of them or none. Resolves after the commit.
   * @param bytes about what the rows hold in memory
   * Throws `overloaded` when the queue is full, DatabaseUnavailable when nothing could be stored
   * (or when nobody knows: repeating the request is safe).
   */
  write(rows: readonly EventRow[], bytes: number): Promise<Written> {
    if (rows.length === 0) return Promise.resolve({ duplicates: 0, refused: NOTHING_REFUSED });
    if (this.full) return Promise.reject(Writer.overloaded());
    this.#rows += rows.length;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      this.#queue.push({ rows, bytes, resolve, reject });
      this.#pumpSoon();
    });
  }

  /** Resolves when everything that was handed over is answered. */
  async drain(): Promise<void> {
    while (this.#flushing > 0 || this.#queue.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /**
   * Flushes once the event loop has handed over what has arrived by now. Otherwise the first request
   * after a flush goes alone: half of all commits held one request, and a full load cost 9 % more.
   */
  #pumpSoon(): void {
    if (this.#waking) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#flushing < this.#options.flushesAtOnce && this.#queue.length > 0) {
      const group = this.#take();
      this.#flushing++;
      this.#flush(group).finally(() => {
        this.#flushing--;
        for (const waiting of group) {
          this.#rows -= waiting.rows.length;
          this.#bytes -= waiting.bytes;
        }
        this.#pumpSoon();
        if (this.#flushing === 0) this.#idle.splice(0).forEach((wake) => wake());
      });
    }
  }

  /**
   * Whole requests from the head of the queue, up to FLUSH_ROWS_MAX rows and FLUSH_BYTES_MAX bytes (at
   * least one request): small ones that came before a large one need not wait for it.
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
      this.#options.observe({ rows, requests: group.length, seconds });
      group.forEach((waiting, i) => {
        const duplicates = known === null ? 0 : gathered.duplicatesOf(i, known);
        waiting.resolve({ duplicates, refused: NOTHING_REFUSED });
      });
    } catch (error) {
      if (error instanceof StatementRefused) await this.#split(group);
      else group.forEach((waiting) => waiting.reject(error));
    }
  }

  /** @returns the keys that were stored before; null: each event is new, and none stands there twice */
  async #insert(gathered: Gathered): Promise<Set<string> | null> {
    for (let attempt = 1;; attempt++) {
      try {
        const besideEarlier = this.#hasEarlier ??= await inTime(hasEarlierEvents(this.#sql));
        return await this.#insertOnce(gathered, besideEarlier);
      } catch (error) {
        const isGone = error instanceof StatementRefused && error.sqlState === UNDEFINED_TABLE;
        if (isGone && this.#hasEarlier === true) this.#hasEarlier = null;
        const again = isGone || error instanceof StatementRefused && TRANSIENT.has(error.sqlState);
        if (!again) throw error;
        if (attempt === TRANSIENT_TRIES_MAX) {
          throw new DatabaseUnavailable("The database kept aborting the insert", { cause: error });
        }
      }
    }
  }

  /**
   * Most flushes hold new events alone, each of them once, and are stored as such: a quarter of the
   * database's work less, and no id is looked at here. One that turns out to hold others is looked
   * through, and so are those that follow, as replays seldom come alone.
   */
  async #insertOnce(gathered: Gathered, besideEarlier: boolean): Promise<Set<string> | null> {
    if (this.#lookedThrough === 0 && !besideEarlier) {
      try {
        await inTime(insertNewEvents(this.#sql, gathered.rows));
        return null;
      } catch (error) {
        if (!(error instanceof StatementRefused) || error.sqlState !== KNOWN_EVENT) throw error;
      }
    }
    const { rows } = gathered.distinct;
    const known = await inTime(insertEvents(this.#sql, rows, besideEarlier));
    this.#lookedThrough = known.size > 0 || rows.length < gathered.rows.length
      ? FLUSHES_LOOKED_THROUGH
      : Math.max(0, this.#lookedThrough - 1);
    return known;
  }

  /** A flush that fails for one row's sake is retried in halves, so that no request suffers for another. */
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

  /** One request that the database refuses: its bad rows are found by trial, the rest is stored in one commit. */
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

  async #accepts(rows: readonly EventRow[]): Promise<boolean> {
    try {
      await this.#sql.transaction(async (sql) => {
        await inTime(insertEvents(sql, rows, false));
        throw new Undo();
      });
    } catch (error) {
      if (error instanceof StatementRefused) return false;
      if (!(error instanceof Undo)) throw error;
    }
    return true;
  }
}

/** A statement that took too long is no refusal of its rows. */
async function inTime<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!(error instanceof StatementRefused) || error.sqlState !== CANCELLED) throw error;
    throw new DatabaseUnavailable("The database took too long to store events", { cause: error });
  }
}

interface Distinct {
  /** Each event once, the first to arrive, in the order in which they came. */
  readonly rows: readonly EventRow[];
  /** Per request: those of its rows that stand nowhere before them in the flush. */
  readonly own: readonly (readonly EventRow[])[];
}

/** The rows of the requests of one flush. */
class Gathered {
  /** All of them, in the order in which they came. */
  readonly rows: readonly EventRow[];
  readonly #group: readonly Pick<Waiting, "rows">[];
  #distinct: Distinct | null = null;

  constructor(group: readonly Pick<Waiting, "rows">[]) {
    this.#group = group;
    this.rows = group.flatMap(({ rows }) => rows);
  }

  /** Found when it is asked for, as ids seldom repeat: to look at one takes 1 µs of the 33 of an event. */
  get distinct(): Distinct {
    return this.#distinct ??= distinct(this.#group);
  }

  /** Of one request's rows those that were stored before, in this flush or an earlier one. */
  duplicatesOf(request: number, known: ReadonlySet<string>): number {
    const own = this.distinct.own[request]!;
    const repeated = this.#group[request]!.rows.length - own.length;
    return repeated + (known.size === 0 ? 0 : countKnown(own, known));
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

function countKnown(rows: readonly EventRow[], known: ReadonlySet<string>): number {
  let count = 0;
  for (const row of rows) if (known.has(keyOf(row))) count++;
  return count;
}
