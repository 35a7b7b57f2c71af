import { createHash } from "node:crypto";
import type { Database } from "../db/sql.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import { encodeBlock } from "../store/journal_block.ts";
import {
  archiveBegin,
  type ArchiveHead,
  encodeEvents,
  encodeJson,
  encodeRows,
} from "./archive_format.ts";
import { ARCHIVED_TABLES } from "./archived_tables.ts";
import { snapshotEvents } from "./events_snapshot.ts";
import { Sums } from "./figures.ts";
import { gathered, storedEvents } from "./stored_events.ts";
import { hasRowsOf, NO_PROJECT, type Owner, storedRows } from "./stored_rows.ts";

export interface ArchiveWanted {
  /** Null: the whole server. */
  readonly project: string | null;
  readonly secrets: boolean;
  readonly footfall: string;
  readonly nowMs: number;
  readonly randomText: (length: number) => string;
}

const ARCHIVE_ID_LENGTH = 22;

/** Sums of rows by table, then by project. */
class RowSums {
  readonly #tables = new Map<string, Sums>();

  add(table: string, of: string, rows: readonly string[]): void {
    let sums = this.#tables.get(table);
    if (sums === undefined) this.#tables.set(table, sums = new Sums());
    const sum = sums.of(of);
    for (const row of rows) sum.add(row);
  }

  get figures() {
    return Object.fromEntries([...this.#tables].map(([name, sums]) => [name, sums.figures]));
  }
}

/**
 * The bytes of an archive, as they are made: of all events that are committed by now, and of what
 * else there is while it is written. Ingestion goes on meanwhile. What a caller takes is whole frames.
 * Throws `not_found` and `conflict` before the first byte.
 */
export async function writeArchive(
  database: Database,
  wanted: ArchiveWanted,
): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>> {
  const { held, snapshot } = await snapshotEvents(database, wanted.project);
  const { projects, journalId } = snapshot;
  const head: ArchiveHead = {
    id: wanted.randomText(ARCHIVE_ID_LENGTH),
    footfall: wanted.footfall,
    schema: MIGRATIONS.at(-1)!.version,
    madeAt: new Date(wanted.nowMs).toISOString(),
    project: wanted.project,
    secrets: wanted.secrets,
    projects: projects.map(({ id, name }) => ({ id, name })),
    events: projects.reduce((sum, { events }) => sum + events, 0),
  };

  async function* frames() {
    const rows = new RowSums();
    const events = new Sums();
    const whole = createHash("sha256");
    const told = (bytes: Uint8Array<ArrayBuffer>) => {
      whole.update(bytes);
      return bytes;
    };
    const owners: (Owner | null)[] = [...projects, ...wanted.project === null ? [null] : []];
    held.keep();
    try {
      yield told(archiveBegin());
      yield told(encodeJson("head", head));
      for (const table of ARCHIVED_TABLES) {
        if (table.secret === true && !wanted.secrets) continue;
        for (const owner of owners.filter((owner) => hasRowsOf(table, owner))) {
          for await (const page of storedRows(database, table, owner)) {
            rows.add(table.name, owner?.id ?? NO_PROJECT, page.rows);
            yield told(encodeRows({ table: table.name, of: page.of, rows: page.rows }));
          }
        }
      }
      for (const project of projects) {
        const sum = events.of(project.id);
        for await (const some of gathered(storedEvents(database, project, held), sum)) {
          yield told(encodeEvents(project.id, encodeBlock(some)));
        }
      }
      yield encodeJson("manifest", {
        rows: rows.figures,
        events: events.figures,
        journalId,
        sha256: whole.digest("hex"),
      });
    } finally {
      held[Symbol.dispose]();
    }
  }
  return frames();
}
