import { createHash } from "node:crypto";
import type { Sql } from "../../db/sql.ts";
import { parseAddress } from "../../http/ip_address.ts";
import { Problem } from "../../problem.ts";
import { SIGN_IN_ATTEMPTS_MAX, SIGN_IN_ATTEMPTS_MS } from "./people_limits.ts";
import { counted } from "../../number_words.ts";

/** Whom a sign-in is for and where it comes from. */
export interface Attempt {
  /** As `Email` makes it, whether or not somebody has it. */
  readonly email: string;
  /** The client's address; null where not even that is known. */
  readonly address: string | null;
  readonly nowMs: number;
}

const NETWORK_BYTES = 8;

/** Who has an address of IPv6 has its whole network (/64): all its addresses count as one. */
function networkOf(address: string | null): string {
  const parsed = address === null ? null : parseAddress(address);
  return parsed === null ? "unknown" : parsed.bytes.slice(0, NETWORK_BYTES).join(".");
}

function hashed(text: string): string {
  return `\\x${createHash("sha256").update(text).digest("hex")}`;
}

/** What attempts are counted for, and how many may fail within SIGN_IN_ATTEMPTS_MS. */
export interface Bound {
  /** As the table has it. */
  readonly subject: string;
  readonly attemptsMax: number;
}

const accountOf = ({ email }: Attempt) => hashed(`account ${email}`);
const placeOf = ({ address }: Attempt) => hashed(`address ${networkOf(address)}`);

/** A bound on what is tried at one thing from one network, such as the password of a share. */
export function boundOf(thing: string, address: string | null, attemptsMax: number): Bound {
  return { subject: hashed(`${thing} from ${networkOf(address)}`), attemptsMax };
}

/** A bound on what is tried at one thing from anywhere. */
export function boundOfAll(thing: string, attemptsMax: number): Bound {
  return { subject: hashed(thing), attemptsMax };
}

const iso = (ms: number) => new Date(ms).toISOString();

/** A row holds the times within the window, as many as are bounded at most. */
const TAKE = `
  INSERT INTO sign_in_attempts AS a (subject, tried_at)
  VALUES ($1::text::bytea, ARRAY[$2::text::timestamptz])
  ON CONFLICT (subject) DO UPDATE SET tried_at = array_append(
    ARRAY(SELECT at FROM unnest(a.tried_at) at WHERE at > $3::text::timestamptz),
    $2::text::timestamptz)
  WHERE (SELECT count(*) FROM unnest(a.tried_at) at WHERE at > $3::text::timestamptz) < $4::int
  RETURNING 1`;

/** Takes one attempt of that moment back: others may have failed within the same millisecond. */
const FORGIVE = `
  UPDATE sign_in_attempts SET tried_at =
    tried_at[:array_position(tried_at, $2::text::timestamptz) - 1] ||
    tried_at[array_position(tried_at, $2::text::timestamptz) + 1:]
  WHERE subject = $1::text::bytea AND $2::text::timestamptz = ANY(tried_at)`;

const boundsOf = (attempt: Attempt): Bound[] =>
  [accountOf(attempt), placeOf(attempt)]
    .map((subject) => ({ subject, attemptsMax: SIGN_IN_ATTEMPTS_MAX }));

/** Where an attempt counts, and what makes it one that has failed. */
interface Trial {
  readonly bounds: readonly Bound[];
  readonly nowMs: number;
  /** Of what the judgement throws. */
  readonly isFailure: (error: unknown) => boolean;
}

/**
 * Counts an attempt within each of the bounds before it is judged, so that many at once are no way
 * around them; on every server together. Only what has failed stays counted: neither what succeeds, nor
 * what could not be judged, as there was no room for it. Throws `too_many_attempts` (429), and then
 * counts nothing, and what `judge` throws.
 */
export async function judgeWithin<T>(
  sql: Sql,
  { bounds, nowMs, isFailure }: Trial,
  judge: () => Promise<T>,
): Promise<T> {
  await takeWithin(sql, bounds, nowMs);
  // Where the database is away by then, what was judged is told all the same.
  const forgive = async () => {
    // One by one: a statement for all of them could wait for an attempt that waits for it.
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
 * As `judgeWithin`, for the account and for the address: `invalid_credentials` has failed. Once one
 * succeeds, the account has failed no more.
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
    // In one order for all, so that two attempts never wait for each other.
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

/** Rolls the transaction back: an attempt that is refused counts for neither. */
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

/** Deletes rows that bound nobody any more. */
export async function deleteOldAttempts(sql: Sql, nowMs: number): Promise<void> {
  await sql.query(
    `DELETE FROM sign_in_attempts
    WHERE NOT EXISTS (SELECT FROM unnest(tried_at) at WHERE at > $1::text::timestamptz)`,
    [iso(nowMs - SIGN_IN_ATTEMPTS_MS)],
  );
}
