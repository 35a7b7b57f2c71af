import { ArchiveRefused } from "../archive/archive_format.ts";
import { DamagedEvents } from "../archive/damaged_blocks.ts";
import { TargetRefused } from "../archive/target_refused.ts";
import { ConfigMistakes } from "../config/config.ts";
import { FolderInUse } from "../db/folder_lock.ts";
import { FileProblem } from "../importers/file_problem.ts";
import { SchemaMismatch, SchemaTooNew } from "../db/migrate.ts";
import { DatabaseRefuses, DatabaseUnavailable, DiskFull } from "../db/sql.ts";
import { Problem, type ProblemPart } from "../problem.ts";
import { Interrupted, UsageMistake } from "./command.ts";
import { RequestRefused, ServerUnreachable } from "./connection.ts";
import { UnreadableFile } from "./line_file.ts";
import { UnwritableFile } from "./whole_file.ts";

/** A failure of a command, for people (`detail`, `errors`) and for scripts (`code`). */
export interface Failure {
  readonly exitCode: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly place: string | null; readonly message: string }[];
}

const FAILED = 1;
const USAGE = 2;
const MISTYPED: ReadonlySet<string> = new Set(["invalid_body", "invalid_parameter"]);
/** The exit code that shells use: 128 plus the number of SIGINT. */
const INTERRUPTED = 130;

function placeOf(part: ProblemPart, place: (field: string) => string): string | null {
  if (part.field) return place(part.field);
  return part.index === undefined ? null : `event ${part.index}`;
}

function failed(
  code: string,
  detail: string,
  errors: Failure["errors"] = [],
  exitCode = FAILED,
): Failure {
  return { exitCode, code, detail, errors };
}

/**
 * Returns any thrown value as a Failure. Of a bug in this program, only the message is shown, not the stack.
 * @param optionOf names the option that a refused field was made of
 */
export function failureOf(
  error: unknown,
  optionOf: (field: string) => string = (field) => field,
): Failure {
  if (error instanceof UsageMistake) return failed("usage", error.message, [], USAGE);
  if (error instanceof ConfigMistakes) {
    const errors = error.mistakes.map(({ variable, message }) => ({ place: variable, message }));
    return failed("configuration", "The environment has mistakes:", errors);
  }
  if (error instanceof RequestRefused || error instanceof Problem) {
    const parts = error instanceof Problem ? error.options.errors ?? [] : error.errors;
    // The body and the parameters were made of the command's options.
    const isMistyped = MISTYPED.has(error.code);
    const place = isMistyped ? optionOf : (field: string) => field;
    const errors = parts.map((part) => ({ place: placeOf(part, place), message: part.message }));
    return isMistyped
      ? failed(error.code, "These options are not right:", errors, USAGE)
      : failed(error.code, error.message, errors);
  }
  if (error instanceof DatabaseRefuses || error instanceof DiskFull) {
    return failed("database_unavailable", `${error.message}.`);
  }
  if (error instanceof DatabaseUnavailable) {
    return failed(
      "database_unavailable",
      `${error.message}. Check that PostgreSQL runs, and that DATABASE_URL names it with its user and ` +
        `password; without DATABASE_URL the embedded database is used.`,
    );
  }
  if (error instanceof ArchiveRefused) return failed("archive_refused", error.message);
  if (error instanceof DamagedEvents) return failed("damaged_events", error.message);
  if (error instanceof FileProblem || error instanceof UnreadableFile) {
    return failed("unreadable_file", error.message);
  }
  if (error instanceof UnwritableFile) return failed("unwritable_file", error.message);
  if (error instanceof TargetRefused) return failed("target_refused", error.message);
  if (error instanceof FolderInUse) return failed("folder_in_use", error.message);
  if (error instanceof ServerUnreachable) return failed("server_unreachable", error.message);
  if (error instanceof SchemaTooNew || error instanceof SchemaMismatch) {
    return failed("schema", error.message);
  }
  if (error instanceof Interrupted) return failed("interrupted", error.message, [], INTERRUPTED);
  const message = error instanceof Error ? error.message : String(error);
  return failed("failed", message === "" ? "Something went wrong." : message);
}
