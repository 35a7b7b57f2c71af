import { invalidBody } from "../problem.ts";

/** Throws `invalid_body` if `expiresAt` is over: what is made with it could never be used. */
export function assertExpiresLater(expiresAt: string | null, nowMs: number): void {
  if (expiresAt === null || Date.parse(expiresAt) > nowMs) return;
  const message = "Give a time that is not over yet, or null.";
  throw invalidBody([{ field: "expiresAt", code: "invalid_value", message }]);
}
