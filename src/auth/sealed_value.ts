import { base64url, errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { Sql } from "../db/sql.ts";

/**
 * Values that a browser keeps for the server between two requests of one sign-in: signed, for one
 * purpose, for a short time. Nothing is written before anybody is known.
 */
export interface Sealer {
  /** The value as text for a cookie, good for so many seconds. Throws DatabaseUnavailable. */
  seal(purpose: string, value: Record<string, unknown>, ttlSeconds: number): Promise<string>;
  /** What was sealed for this purpose; null where it was not, or its time is over. */
  open<T>(purpose: string, text: string, shape: z.ZodType<T>): Promise<T | null>;
}

const SETTING = "sign_in_secret";
const SECRET_BYTES = 32;
/** Longer ones are not looked at: what is sealed here has a few hundred. */
const SEALED_LENGTH_MAX = 2_048;

/** The secret that all servers on one database share: whoever comes first makes it. */
async function sharedSecret(sql: Sql): Promise<Uint8Array> {
  const made = base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  await sql.query(
    "INSERT INTO settings (name, value) VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING",
    [SETTING, made],
  );
  const [row] = await sql.query<{ value: string }>(
    "SELECT value FROM settings WHERE name = $1::text",
    [SETTING],
  );
  return base64url.decode(row!.value);
}

export function createSealer(sql: Sql, now: () => number): Sealer {
  let secret: Promise<Uint8Array> | null = null;
  const secretOf = () =>
    secret ??= sharedSecret(sql).catch((error) => {
      secret = null;
      throw error;
    });
  return {
    async seal(purpose, value, ttlSeconds) {
      return await new SignJWT({ value })
        .setProtectedHeader({ alg: "HS256" })
        .setSubject(purpose)
        .setExpirationTime(Math.floor(now() / 1000) + ttlSeconds)
        .sign(await secretOf());
    },
    async open(purpose, text, shape) {
      if (text.length > SEALED_LENGTH_MAX) return null;
      try {
        const options = { algorithms: ["HS256"], subject: purpose, currentDate: new Date(now()) };
        const { payload } = await jwtVerify(text, await secretOf(), options);
        return shape.safeParse(payload["value"]).data ?? null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}
