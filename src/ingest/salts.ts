import { exists, type Sql, StatementRefused } from "../db/sql.ts";
import { DAY_MS, SALT_GRACE_MS, SALT_LOCK_MS_MAX } from "../limits.ts";

export interface Salts {
  /**
   * Returns the 32 random bytes of a UTC day (`YYYY-MM-DD`), today or yesterday: the same on every server,
   * and the same array on every call.
   *
   * @throws RangeError for any other day; what the database throws while it is away.
   */
  saltFor(day: string): Promise<Uint8Array>;
  /**
   * Makes today's salt and deletes all older than yesterday's, here and in the database, whose table gets a
   * new file. @returns false if the old file could not be replaced because the table is locked for long, such
   * as by a backup; the next call tries again
   */
  rotate(): Promise<boolean>;
  /** Rotates only if there is a salt to delete, so that most starts write nothing and do not wait. */
  rotateLate(): Promise<void>;
}

/** `lock_not_available`. */
const LOCK_TIMEOUT = "55P03";

const SALT_BYTES = 32;

/**
 * Moves the salts from `oldest` on to a new file of the table. A deleted row's bytes stay in the file, and
 * VACUUM FULL copies rows that an older snapshot may still see. TRUNCATE begins an empty file, and empties the
 * old one when the transaction commits. Servers that need a salt meanwhile wait, and find it in the new file.
 */
async function writeAnew(sql: Sql, oldest: string): Promise<void> {
  await sql.transaction(async (inside) => {
    // Short, because all later statements on the table wait behind this lock.
    await inside.query("SELECT set_config('lock_timeout', $1::text, true)", [
      `${SALT_LOCK_MS_MAX}ms`,
    ]);
    await inside.query("LOCK TABLE daily_salts IN ACCESS EXCLUSIVE MODE");
    const kept = await inside.query<{ day: string; salt: Uint8Array }>(
      "SELECT day, salt FROM daily_salts WHERE day >= $1::text::date ORDER BY day",
      [oldest],
    );
    await inside.query("TRUNCATE daily_salts");
    for (const { day, salt } of kept) {
      await inside.query(
        "INSERT INTO daily_salts (day, salt) VALUES ($1::text::date, decode($2::text, 'hex'))",
        [day, salt.toHex()],
      );
    }
  });
}

function isAnyBefore(sql: Sql, oldest: string): Promise<boolean> {
  return exists(sql, "SELECT FROM daily_salts WHERE day < $1::text::date LIMIT 1", [oldest]);
}

/** Creates a function that deletes the salts of earlier days; it returns what `rotate` does. */
function createDeletion(sql: Sql): (oldest: string) => Promise<boolean> {
  /** Whether the file may contain bytes of deleted salts; true at first, as that is not known. */
  let isFileOld = true;
  return async (oldest) => {
    isFileOld ||= await isAnyBefore(sql, oldest);
    if (!isFileOld) return true;
    try {
      await writeAnew(sql, oldest);
      isFileOld = false;
    } catch (error) {
      if (!(error instanceof StatementRefused && error.sqlState === LOCK_TIMEOUT)) throw error;
      await sql.query("DELETE FROM daily_salts WHERE day < $1::text::date", [oldest]);
    }
    return !isFileOld;
  };
}

/**
 * Creates the salts of visitor hashes, which are kept in the table `daily_salts`. Once a day's salt is
 * deleted, nobody can find the address behind a hash of that day any more.
 */
export function createSalts(
  sql: Sql,
  now: () => number,
  randomBytes: (count: number) => Uint8Array,
): Salts {
  const salts = new Map<string, Promise<Uint8Array>>();
  const deleteBefore = createDeletion(sql);

  /** Returns the oldest day in use. A day stays in use a little longer, for requests that are running at midnight. */
  function oldestDay(): string {
    return dayText(dayNumber(now() - SALT_GRACE_MS) - 1);
  }

  function evictBefore(oldest: string): void {
    for (const day of salts.keys()) if (day < oldest) salts.delete(day);
  }

  async function load(day: string): Promise<Uint8Array> {
    try {
      await sql.query(
        `INSERT INTO daily_salts (day, salt) VALUES ($1::date, decode($2::text, 'hex'))
         ON CONFLICT DO NOTHING`,
        [day, randomBytes(SALT_BYTES).toHex()],
      );
      const [row] = await sql.query<{ salt: Uint8Array }>(
        "SELECT salt FROM daily_salts WHERE day = $1::date",
        [day],
      );
      if (row === undefined) throw new Error(`the salt of ${day} was deleted as it was made`);
      return row.salt;
    } catch (error) {
      salts.delete(day);
      throw error;
    }
  }

  async function saltFor(day: string): Promise<Uint8Array> {
    const oldest = oldestDay();
    if (day < oldest || day > dayText(dayNumber(now()))) {
      throw new RangeError(`there is no salt for ${day}`);
    }
    evictBefore(oldest);
    return await salts.getOrInsertComputed(day, load);
  }

  async function rotate(): Promise<boolean> {
    const oldest = oldestDay();
    evictBefore(oldest);
    const isGone = await deleteBefore(oldest);
    await saltFor(dayText(dayNumber(now())));
    return isGone;
  }

  async function rotateLate(): Promise<void> {
    if (await isAnyBefore(sql, oldestDay())) await rotate();
  }

  return { saltFor, rotate, rotateLate };
}

/** The UTC days of a visitor hash, `YYYY-MM-DD`. */
export interface HashDays {
  /** Whose salt is the key. */
  readonly salt: string;
  /** Of the event. */
  readonly event: string;
}

/**
 * Returns the days of the hash of an event's visitor: the salt is that of the event's own UTC day if this is the
 * day of the receipt or the one before, else that of the day of the receipt.
 * @param day the event's, as `dayNumber` returns it
 */
export function hashDays(day: number, receivedAtMs: number): HashDays {
  const today = dayNumber(receivedAtMs);
  if (today !== recent.day) {
    recent = { day: today, today: ownDay(today), before: ownDay(today - 1) };
  }
  if (day === today) return recent.today;
  if (day === today - 1) return recent.before;
  return { salt: recent.today.salt, event: dayText(day) };
}

function ownDay(day: number): HashDays {
  const text = dayText(day);
  return { salt: text, event: text };
}

/** The day of the last receipt and the one before, cached since formatting them takes 3 µs a request. */
let recent = { day: NaN, today: ownDay(0), before: ownDay(0) };

/** Returns the number of days since 1970-01-01, in UTC. */
export function dayNumber(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
