import { errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { sharedSecret } from "./shared_secret.ts";

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
/** Longer ones are not looked at: what is sealed here has a few hundred. */
const SEALED_LENGTH_MAX = 2_048;

export function createSealer(sql: Sql, now: () => number): Sealer {
  const secretOf = sharedSecret(sql, SETTING);
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
