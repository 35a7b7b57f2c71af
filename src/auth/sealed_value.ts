import { errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { sharedSecret } from "./shared_secret.ts";

/**
 * Signs values for one purpose and a limited time, and checks them when they come back in a cookie or a link. So
 * nothing is stored for people who have not signed in yet.
 */
export interface Sealer {
  /** Returns the value as signed text that is valid for `ttlSeconds`. Throws DatabaseUnavailable. */
  seal(purpose: string, value: Record<string, unknown>, ttlSeconds: number): Promise<string>;
  /** Returns a value that was sealed for this purpose; null: it was not, or has expired. */
  open<T>(purpose: string, text: string, shape: z.ZodType<T>): Promise<T | null>;
}

const SETTING = "sign_in_secret";
/** Longer text is refused unread: sealed values have a few hundred characters. */
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
