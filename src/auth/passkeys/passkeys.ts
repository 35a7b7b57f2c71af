import { isRefused, UNIQUE_VIOLATION } from "../../db/refusal.ts";
import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { type Person, PERSON_COLUMNS, personOfRow } from "../people/people.ts";
import type { StoredPasskey } from "./passkey_ceremony.ts";
import { PASSKEYS_MAX } from "./passkey_limits.ts";

/** A passkey in its person's list. Times are ISO 8601 in UTC. */
export interface Passkey {
  /** The device's name for it, in base64url. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

interface PasskeyRow extends Record<string, unknown> {
  credential_id: string;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
}

interface StoredRow extends Record<string, unknown> {
  credential_id: string;
  public_key: Uint8Array<ArrayBuffer>;
  counter: bigint | number | string;
  transports: string[];
}

const iso = (ms: number) => new Date(ms).toISOString();

function passkeyOfRow({ credential_id, name, created_at, last_used_at }: PasskeyRow): Passkey {
  return {
    id: credential_id,
    name,
    createdAt: created_at.toISOString(),
    lastUsedAt: last_used_at?.toISOString() ?? null,
  };
}

function storedOfRow({ credential_id, public_key, counter, transports }: StoredRow): StoredPasskey {
  return {
    credentialId: credential_id,
    publicKey: new Uint8Array(public_key),
    counter: Number(counter),
    transports,
  };
}

const SHOWN_COLUMNS = "k.credential_id, k.name, k.created_at, k.last_used_at";
const STORED_COLUMNS = "k.credential_id, k.public_key, k.counter, k.transports";

/** A person's passkeys, oldest first. */
export async function listPasskeys(sql: Sql, personId: string): Promise<Passkey[]> {
  const rows = await sql.query<PasskeyRow>(
    `SELECT ${SHOWN_COLUMNS} FROM passkeys k WHERE k.person_id = $1::text
    ORDER BY k.created_at, k.credential_id`,
    [personId],
  );
  return rows.map(passkeyOfRow);
}

/** A person's passkeys, for devices: one that has any of them does not make another. */
export async function storedPasskeys(sql: Sql, personId: string): Promise<StoredPasskey[]> {
  const rows = await sql.query<StoredRow>(
    `SELECT ${STORED_COLUMNS} FROM passkeys k WHERE k.person_id = $1::text`,
    [personId],
  );
  return rows.map(storedOfRow);
}

/** Throws `conflict` if the person has too many passkeys, or this one is stored already. */
export async function addPasskey(sql: Sql, wanted: {
  readonly personId: string;
  readonly name: string;
  readonly passkey: StoredPasskey;
  readonly nowMs: number;
}): Promise<Passkey> {
  const { credentialId, publicKey, counter, transports } = wanted.passkey;
  try {
    const [row] = await sql.query<PasskeyRow>(
      `INSERT INTO passkeys AS k
        (credential_id, person_id, name, public_key, counter, transports, created_at)
      SELECT $1::text, $2::text, $3::text, $4::text::bytea, $5::text::bigint,
        $6::text::text[], $7::text::timestamptz
      WHERE (SELECT count(*) FROM passkeys WHERE person_id = $2::text) < $8::int
      RETURNING ${SHOWN_COLUMNS}`,
      [
        credentialId,
        wanted.personId,
        wanted.name,
        `\\x${publicKey.toHex()}`,
        String(counter),
        arrayLiteral(transports),
        iso(wanted.nowMs),
        PASSKEYS_MAX,
      ],
    );
    if (row !== undefined) return passkeyOfRow(row);
  } catch (cause) {
    if (!isRefused(cause, UNIQUE_VIOLATION)) throw cause;
    throw new Problem("conflict", "This passkey is kept already.", { cause });
  }
  throw new Problem("conflict", `You have ${PASSKEYS_MAX} passkeys. Remove one first.`);
}

/** Throws `not_found`. */
export async function removePasskey(sql: Sql, personId: string, id: string): Promise<Passkey> {
  const [row] = await sql.query<PasskeyRow>(
    `DELETE FROM passkeys k WHERE k.credential_id = $1::text AND k.person_id = $2::text
    RETURNING ${SHOWN_COLUMNS}`,
    [id, personId],
  );
  if (row === undefined) throw new Problem("not_found", "You have no passkey with this id.");
  return passkeyOfRow(row);
}

/** Finds the passkey that a device names, and its person. Null: there is none. */
export async function findPasskey(
  sql: Sql,
  credentialId: string,
): Promise<{ readonly person: Person; readonly passkey: StoredPasskey } | null> {
  const [row] = await sql.query(
    `SELECT ${PERSON_COLUMNS}, ${STORED_COLUMNS}
    FROM passkeys k JOIN people p USING (person_id) WHERE k.credential_id = $1::text`,
    [credentialId],
  );
  if (row === undefined) return null;
  return { person: personOfRow(row), passkey: storedOfRow(row as StoredRow) };
}

/**
 * Stores that a passkey was used.
 * @returns false: another sign-in had a counter as high, which a device that counts never repeats
 */
export async function notePasskeyUse(sql: Sql, credentialId: string, used: {
  readonly counter: number;
  readonly nowMs: number;
}): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE passkeys SET counter = $2::text::bigint, last_used_at = $3::text::timestamptz
    WHERE credential_id = $1::text AND (counter < $2::text::bigint OR $2::text::bigint = 0)
    RETURNING 1`,
    [credentialId, String(used.counter), iso(used.nowMs)],
  );
  return rows.length > 0;
}
