import { SchemaMismatch, SchemaTooNew } from "./db/migrate.ts";
import { Problem } from "./problem.ts";

const MISTAKES = [SchemaTooNew, SchemaMismatch, Problem] as const;

/** Whether no later attempt mends what a start has failed by. */
export function isMistake(error: unknown): boolean {
  return MISTAKES.some((mistake) => error instanceof mistake);
}
