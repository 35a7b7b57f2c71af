import type { Database } from "../db/sql.ts";
import { ARCHIVED_TABLES, type ArchivedTable } from "./archived_tables.ts";
import { DamagedEvents } from "./damaged_blocks.ts";
import { snapshotEvents } from "./events_snapshot.ts";
import { type Figures, Sums } from "./figures.ts";
import { gathered, storedEvents } from "./stored_events.ts";
import { hasRowsOf, listOwners, NO_PROJECT, type Owner, storedRows } from "./stored_rows.ts";

/** The progress of counting, or its result. */
export type FiguresLine =
  | { readonly events: number; readonly of: number }
  | { readonly figures: Readonly<Record<string, Figures>>; readonly journalId: number }
  /** Why there are no figures, in a sentence. */
  | { readonly failure: string };

/**
 * Reads all events that are committed by now, and yields their counts and digests by project. Before the first
 * line, throws what `snapshotEvents` throws.
 */
export async function readFigures(
  database: Database,
  project: string | null,
): Promise<AsyncGenerator<FiguresLine>> {
  const { held, snapshot } = await snapshotEvents(database, project);
  const of = snapshot.projects.reduce((sum, { events }) => sum + events, 0);

  async function* lines(): AsyncGenerator<FiguresLine> {
    const sums = new Sums();
    let events = 0;
    held.keep();
    try {
      for (const own of snapshot.projects) {
        const sum = sums.of(own.id);
        for await (const rows of gathered(storedEvents(database, own, held), sum)) {
          events += rows.length;
          yield { events, of };
        }
      }
      yield { figures: sums.figures, journalId: snapshot.journalId };
    } catch (error) {
      if (!(error instanceof DamagedEvents)) throw error;
      yield { failure: error.message };
    } finally {
      held[Symbol.dispose]();
    }
  }
  return lines();
}

/** Leaves the column of pictures out: their hashes are in another column, and more rows can be read at once. */
function withoutPictures(table: ArchivedTable): ArchivedTable {
  const { name, of, key } = table;
  return name === "captures" ? { name, of, key, leaves: ["image"] } : table;
}

/**
 * Reads counts and digests of the rows of other tables, by table, then by project.
 * @param left the names of tables to leave out
 */
export async function readRowFigures(
  database: Database,
  secrets: boolean,
  left: ReadonlySet<string>,
): Promise<Record<string, Record<string, Figures>>> {
  const owners: (Owner | null)[] = [...await listOwners(database), null];
  const figures: Record<string, Record<string, Figures>> = {};
  for (const table of ARCHIVED_TABLES) {
    if (left.has(table.name) || table.secret === true && !secrets) continue;
    const sums = new Sums();
    for (const owner of owners.filter((owner) => hasRowsOf(table, owner))) {
      for await (const rows of storedRows(database, withoutPictures(table), owner)) {
        for (const row of rows) sums.of(owner?.id ?? NO_PROJECT).add(row);
      }
    }
    figures[table.name] = sums.figures;
  }
  return figures;
}
