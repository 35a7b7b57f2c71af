import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { type Attempt, judgeAttempt } from "./attempts.ts";
import { hashPassword, isPassword, isWeakHash } from "./passwords.ts";
import { passwordOf, type Person, PERSON_COLUMNS, personOfRow, setPassword } from "./people.ts";

interface CredentialRow extends Record<string, unknown> {
  person_id: string | null;
  password: string | null;
  /** The hash of another person, always the same one for an e-mail, whose cost an unknown account takes too. */
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
  /** Called in a transaction that has checked that the password is unchanged. */
  readonly use: (sql: Sql, person: Person) => Promise<T>;
  /** Called before that transaction, if the password is right. */
  readonly beforehand?: () => Promise<void>;
  /** The problem to throw if the e-mail address or the password is wrong. */
  readonly refused?: () => Problem;
}

/**
 * Calls `use` with the person who has this e-mail address and password. Unknown people take the same work as
 * known ones, so that neither the reply nor its time tells them apart. A hash of an earlier, cheaper kind is
 * replaced.
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
