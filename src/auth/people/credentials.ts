import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { type Attempt, judgeAttempt } from "./attempts.ts";
import { hashPassword, isPassword, isWeakHash } from "./passwords.ts";
import { passwordOf, type Person, PERSON_COLUMNS, personOfRow, setPassword } from "./people.ts";

interface CredentialRow extends Record<string, unknown> {
  person_id: string | null;
  password: string | null;
  /** Somebody's password, always the same one's for an e-mail: it says what a guess must cost. */
  other: string | null;
}

const LOOK_UP = `
  SELECT ${PERSON_COLUMNS}, p.password, (
    SELECT o.password FROM people o WHERE o.password IS NOT NULL
    ORDER BY md5(o.person_id || $1::text) LIMIT 1
  ) AS other
  FROM (VALUES (1)) one LEFT JOIN people p ON p.email = $1::text`;

function wrong(): Problem {
  return new Problem("invalid_credentials", "The e-mail address or the password is wrong.");
}

interface CredentialUse<T> {
  /** In the transaction that sees the password still be the same. */
  readonly use: (sql: Sql, person: Person) => Promise<T>;
  /** Before it, once the password is known to be right. */
  readonly beforehand?: () => Promise<void>;
  /** What is thrown where the two do not go together. Default: that one of them is wrong. */
  readonly refused?: () => Problem;
}

/**
 * Who has this e-mail address and password. For unknown people the same is done as for known ones, so
 * that neither the answer nor its time tells them apart. A hash of an earlier, cheaper kind is made
 * anew.
 *
 * Throws `invalid_credentials` (401), `too_many_attempts` (429), `overloaded` (503).
 */
export async function requireCredentials<T>(
  sql: Sql,
  attempt: Attempt,
  password: string,
  { use, beforehand, refused = wrong }: CredentialUse<T>,
): Promise<T> {
  return await judgeAttempt(sql, attempt, async () => {
    const [row] = await sql.query<CredentialRow>(LOOK_UP, [attempt.email]);
    const stored = row?.password ?? null;
    if (!await isPassword(password, stored, row?.other ?? null)) throw refused();
    if (row === undefined || stored === null) throw refused();
    const person = personOfRow(row);
    const fresh = isWeakHash(stored) ? await hashPassword(password) : null;
    await beforehand?.();
    return await sql.transaction(async (inside) => {
      if (await passwordOf(inside, person.id) !== stored) throw refused();
      if (fresh !== null) {
        await setPassword(inside, { personId: person.id, password: fresh, nowMs: attempt.nowMs });
      }
      return await use(inside, person);
    });
  });
}
