import { createHash } from "node:crypto";
import type { Sql } from "../../db/sql.ts";
import { parseAddress } from "../../http/ip_address.ts";
import { Problem } from "../../problem.ts";
import { SIGN_IN_ATTEMPTS_MAX, SIGN_IN_ATTEMPTS_MS } from "./people_limits.ts";
import { counted } from "../../number_words.ts";

/** The account that a sign-in is for, and where it comes from. */
export interface Attempt {
  /** As `Email` normalizes it, whether or not somebody has it. */
  readonly email: string;
  /** The client's address; null: unknown. */
  readonly address: string | null;
  readonly nowMs: number;
}

const NETWORK_BYTES = 8;

/** A client with an IPv6 address has the whole /64, so its addresses count as one. */
function networkOf(address: string | null): string {
  const parsed = address === null ? null : parseAddress(address);
  return parsed === null ? "unknown" : parsed.bytes.slice(0, NETWORK_BYTES).join(".");
}

function hashed(text: string): string {
  return `\\x${createHash("sha256").update(text).digest("hex")}`;
}

/** How many attempts may fail within SIGN_IN_ATTEMPTS_MS, of those that are counted together. */
interface Bound {
  /** The key of the table: a hash. */
  readonly subject: string;
  readonly attemptsMax: number;
}

const accountOf = ({ email }: Attempt) => hashed(`account ${email}`);
const placeOf = ({ address }: Attempt) => hashed(`address ${networkOf(address)}`);

/** A bound on the attempts at one thing, such as the password of a share, from one network. */
export function boundOf(thing: string, address: string | null, attemptsMax: number): Bound {
  return { subject: hashed(`${thing} from ${networkOf(address)}`), attemptsMax };
}

/** A bound on the attempts at one thing from anywhere. */
export function boundOfAll(thing: string, attemptsMax: number): Bound {
  return { subject: hashed(thing), attemptsMax };
}

const iso = (ms: number) => new Date(ms).toISOString();

/** Adds an attempt to its row, which has the times within the window, up to the bound; no row: there is no room. */
const TAKE = `
  INSERT INTO sign_in_attempts AS a (subject, tried_at)
  VALUES ($1::text::bytea, ARRAY[$2::text::timestamptz])
  ON CONFLICT (subject) DO UPDATE SET tried_at = array_append(
    ARRAY(SELECT at FROM unnest(a.tried_at) at WHERE at > $3::text::timestamptz),
    $2::text::timestamptz)
  WHERE (SELECT count(*) FROM unnest(a.tried_at) at WHERE at > $3::text::timestamptz) < $4::int
  RETURNING 1`;

/** Removes one attempt of that time: others may have failed in the same millisecond. */
const FORGIVE = `
  UPDATE sign_in_attempts SET tried_at =
    tried_at[:array_position(tried_at, $2::text::timestamptz) - 1] ||
    tried_at[array_position(tried_at, $2::text::timestamptz) + 1:]
  WHERE subject = $1::text::bytea AND $2::text::timestamptz = ANY(tried_at)`;

const boundsOf = (attempt: Attempt): Bound[] =>
  [accountOf(attempt), placeOf(attempt)]
    .map((subject) => ({ subject, attemptsMax: SIGN_IN_ATTEMPTS_MAX }));

/** The bounds that an attempt counts for, and which errors mean that it failed. */
interface Trial {
  readonly bounds: readonly Bound[];
  readonly nowMs: number;
  readonly isFailure: (error: unknown) => boolean;
}

/**
 * Counts an attempt for each of its bounds, over all servers, then judges it. It is counted first, so that many
 * at once cannot pass the bounds. Only failures stay counted, not successes nor attempts that could not be
 * judged. Throws what `judge` throws, or, without counting the attempt, `too_many_attempts` (429).
 */
export async function judgeWithin<T>(
  sql: Sql,
  { bounds, nowMs, isFailure }: Trial,
  judge: () => Promise<T>,
): Promise<T> {
  await takeWithin(sql, bounds, nowMs);
  // A failure does not change the result: the attempt then stays counted.
  const forgive = async () => {
    // One by one: a statement that locks several rows could deadlock with another.
    for (const { subject } of bounds) {
      await sql.query(FORGIVE, [subject, iso(nowMs)]).catch(() => {});
    }
  };
  try {
    const judged = await judge();
    await forgive();
    return judged;
  } catch (error) {
    if (!isFailure(error)) await forgive();
    throw error;
  }
}

/**
 * As `judgeWithin`, with the bounds of the account and of the address; `invalid_credentials` is a failure. A
 * success clears the account's failures.
 */
export async function judgeAttempt<T>(
  sql: Sql,
  attempt: Attempt,
  judge: () => Promise<T>,
): Promise<T> {
  const trial = {
    bounds: boundsOf(attempt),
    nowMs: attempt.nowMs,
    isFailure: (error: unknown) => error instanceof Problem && error.code === "invalid_credentials",
  };
  const judged = await judgeWithin(sql, trial, judge);
  const forget = "DELETE FROM sign_in_attempts WHERE subject = $1::text::bytea";
  await sql.query(forget, [accountOf(attempt)]).catch(() => {});
  return judged;
}

async function takeWithin(sql: Sql, bounds: readonly Bound[], nowMs: number): Promise<void> {
  const sinceMs = nowMs - SIGN_IN_ATTEMPTS_MS;
  const refusedMs = await sql.transaction(async (sql) => {
    // Always in the same order, so that two attempts cannot deadlock.
    for (const { subject, attemptsMax } of bounds.toSorted(bySubject)) {
      const taken = await sql.query(TAKE, [subject, iso(nowMs), iso(sinceMs), attemptsMax]);
      if (taken.length > 0) continue;
      throw new TooMany(await oldestMs(sql, subject, sinceMs));
    }
    return null;
  }).catch((error) => {
    if (error instanceof TooMany) return error.oldestMs;
    throw error;
  });
  if (refusedMs === null) return;
  const waitS = Math.max(1, Math.ceil((refusedMs + SIGN_IN_ATTEMPTS_MS - nowMs) / 1000));
  throw new Problem(
    "too_many_attempts",
    `Too many attempts have failed. Try again in ${counted(Math.ceil(waitS / 60), "minute")}.`,
    { headers: { "Retry-After": String(waitS) } },
  );
}

const bySubject = (a: Bound, b: Bound) => a.subject < b.subject ? -1 : 1;

/** Thrown to roll the transaction back, so that a refused attempt counts for no bound. */
class TooMany extends Error {
  constructor(readonly oldestMs: number) {
    super("Too many attempts");
  }
}

async function oldestMs(sql: Sql, subject: string, sinceMs: number): Promise<number> {
  const [row] = await sql.query<{ oldest: Date | null }>(
    `SELECT min(at) AS oldest FROM sign_in_attempts a, unnest(a.tried_at) at
    WHERE a.subject = $1::text::bytea AND at > $2::text::timestamptz`,
    [subject, iso(sinceMs)],
  );
  return row?.oldest?.getTime() ?? sinceMs;
}

/** Deletes rows without attempts in the window. */
export async function deleteOldAttempts(sql: Sql, nowMs: number): Promise<void> {
  await sql.query(
    `DELETE FROM sign_in_attempts
    WHERE NOT EXISTS (SELECT FROM unnest(tried_at) at WHERE at > $1::text::timestamptz)`,
    [iso(nowMs - SIGN_IN_ATTEMPTS_MS)],
  );
}
