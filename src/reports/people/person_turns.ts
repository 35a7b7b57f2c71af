import type { Database } from "../../db/sql.ts";
import { OwnerTurns } from "../../turns/owner_turns.ts";
import { retryable } from "../../problem.ts";

/** How many of the connections for writes they take at once, one for each project. */
const PERSONS_AT_ONCE = 2;
/** The longest wait of a person's export or erasure for those of other persons. */
export const PERSON_TURN_MS_MAX = 60_000;

const turns = new WeakMap<Database, OwnerTurns>();

function turnsOf(database: Database): OwnerTurns {
  return turns.getOrInsertComputed(
    database,
    () => new OwnerTurns(database.engine === "postgres" ? PERSONS_AT_ONCE : 1),
  );
}

const refusal = () =>
  retryable(
    "overloaded",
    "Other persons are being read or erased. Send the request again later.",
  );

/**
 * Runs what reads or erases a single person in a turn of the project: it takes a connection that ingestion needs, too,
 * and erasures of one project wait for each other while they hold theirs. Throws Problem `overloaded` if the turn does
 * not come in time, or `gone` is aborted before.
 */
export async function inPersonTurn<T>(
  database: Database,
  projectId: number,
  gone: AbortSignal | null,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const refuse = () => over.abort(refusal());
  if (gone?.aborted) refuse();
  gone?.addEventListener("abort", refuse);
  const timer = setTimeout(refuse, PERSON_TURN_MS_MAX);
  const leave = () => {
    clearTimeout(timer);
    gone?.removeEventListener("abort", refuse);
  };
  try {
    return await turnsOf(database).take(projectId, over.signal, () => {
      leave();
      return work();
    });
  } finally {
    leave();
  }
}

/** Runs the next part of what has begun in a turn of the project, before what has not. Throws the reason of `gone`. */
export const inNextPersonTurn = <T>(
  database: Database,
  projectId: number,
  gone: AbortSignal | null,
  work: () => Promise<T>,
): Promise<T> => turnsOf(database).take(projectId, gone, work, true);
