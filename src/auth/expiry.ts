import { invalidBody } from "../problem.ts";

/** Throws `invalid_body` if something new would have ended when it is made. `expiresAt`: null: it does not end. */
export function assertNotOver(expiresAt: string | null, nowMs: number): void {
  if (expiresAt === null || Date.parse(expiresAt) > nowMs) return;
  const message = "Give a time in the future.";
  throw invalidBody([{ field: "expiresAt", code: "invalid_value", message }]);
}
