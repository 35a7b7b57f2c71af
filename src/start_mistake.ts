import { SchemaMismatch, SchemaTooNew } from "./db/migrate.ts";
import { Problem } from "./problem.ts";

const MISTAKES = [SchemaTooNew, SchemaMismatch, Problem] as const;

/** Whether a start failed for a reason that does not go away by trying again. */
export function isMistake(error: unknown): boolean {
  return MISTAKES.some((mistake) => error instanceof mistake);
}
