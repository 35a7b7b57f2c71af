import { base64url } from "jose";
import type { Sql } from "../db/sql.ts";

const SECRET_BYTES = 32;

/** Reads the secret, or makes it. An existing one is not written, since the disk may be full. */
async function findOrMake(sql: Sql, name: string): Promise<Uint8Array> {
  const [stored] = await sql.query<{ value: string }>(
    "SELECT value FROM settings WHERE name = $1::text",
    [name],
  );
  const secret = base64url.decode(stored?.value ?? await make(sql, name));
  if (secret.length < SECRET_BYTES) throw new Error(`The stored ${name} is too short`);
  return secret;
}

/** Stores a new secret. Returns the stored one, which another server may just have made. */
async function make(sql: Sql, name: string): Promise<string> {
  const made = base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const [row] = await sql.query<{ value: string }>(
    `INSERT INTO settings AS s (name, value) VALUES ($1::text, $2::text)
    ON CONFLICT (name) DO UPDATE SET value = s.value RETURNING value`,
    [name, made],
  );
  return row?.value ?? "";
}

/**
 * Returns a function that finds the secret that all servers on one database share under this name. It reads the
 * database once, unless that fails.
 */
export function sharedSecret(sql: Sql, name: string): () => Promise<Uint8Array> {
  let found: Promise<Uint8Array> | null = null;
  return () =>
    found ??= findOrMake(sql, name).catch((error) => {
      found = null;
      throw error;
    });
}
