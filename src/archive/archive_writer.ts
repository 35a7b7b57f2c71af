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
import { ARCHIVED_TABLES, type ArchivedTable } from "./archived_tables.ts";
import { type DamagedBlock, DamagedEvents, refuseDamage } from "./damaged_blocks.ts";
import { type HeldSegments, type ProjectSnapshot, snapshotEvents } from "./events_snapshot.ts";
import { eventText, Sums } from "./figures.ts";
import { eventsSince, gathered, storedEvents } from "./stored_events.ts";
import { hasRowsOf, listOwners, NO_PROJECT, type Owner, storedRows } from "./stored_rows.ts";

interface ArchiveWanted {
  /** Null: the whole server. */
  readonly project: string | null;
  readonly secrets: boolean;
  readonly part: ArchivePart;
  /** Whether unreadable blocks are left out and listed in the manifest. */
  readonly skipDamaged: boolean;
  readonly footfall: string;
  readonly nowMs: number;
  readonly randomText: (length: number) => string;
}

const ARCHIVE_ID_LENGTH = 22;

/** What to write: a whole archive, one of the steps of a move, or events alone. */
export type ArchivePart =
  /** Everything. */
  | { readonly kind: "whole" }
  /** Projects, and the events stored after a journal row. */
  | { readonly kind: "since"; readonly journalId: number }
  /** Everything but events and pictures, or one of these alone. */
  | { readonly kind: "rows" | "pictures" | "events" };

/** Sums of rows by table, then by project. */
class RowSums {
  readonly #tables = new Map<string, Sums>();

  add(table: string, of: string, rows: readonly string[]): void {
    const sum = this.#tables.getOrInsertComputed(table, () => new Sums()).of(of);
    for (const row of rows) sum.add(row);
  }

  get figures() {
    return Object.fromEntries([...this.#tables].map(([name, sums]) => [name, sums.figures]));
  }
}

/** Encodes the contents of an archive, and sums up what it has encoded. */
class Contents {
  readonly #rows = new RowSums();
  readonly #events = new Sums();
  readonly #whole = createHash("sha256");
  readonly #damaged: DamagedBlock[] = [];
  journalId = 0;

  constructor(readonly database: Database, readonly skipDamaged: boolean) {}

  hashed(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#whole.update(bytes);
    return bytes;
  }

  async *table(table: ArchivedTable, owners: readonly (Owner | null)[]) {
    for (const owner of owners.filter((owner) => hasRowsOf(table, owner))) {
      const of = owner?.id ?? NO_PROJECT;
      for await (const rows of storedRows(this.database, table, owner)) {
        this.#rows.add(table.name, of, rows);
        yield this.hashed(encodeRows({ table: table.name, of, rows }));
      }
    }
  }

  /** Yields all events of a project, as they were at the snapshot. */
  async *events(project: ProjectSnapshot, held: HeldSegments) {
    const sum = this.#events.of(project.id);
    const damaged = (block: DamagedBlock) => {
      if (!this.skipDamaged) refuseDamage(block);
      this.#damaged.push(block);
    };
    const stored = storedEvents(this.database, project, held, damaged);
    for await (const rows of gathered(stored, sum)) {
      yield this.hashed(encodeEvents(project.id, encodeBlock(rows)));
    }
  }

  async *eventsSince(journalId: number) {
    this.journalId = journalId;
    for await (const { id, rows, ...row } of eventsSince(this.database, journalId)) {
      const sum = this.#events.of(id);
      for (const event of rows) sum.add(eventText(event));
      yield this.hashed(encodeEvents(id, encodeBlock(rows)));
      this.journalId = row.journalId;
    }
  }

  end(): Uint8Array<ArrayBuffer> {
    return encodeJson("manifest", {
      rows: this.#rows.figures,
      events: this.#events.figures,
      journalId: this.journalId,
      ...this.#damaged.length === 0 ? {} : { damaged: this.#damaged },
      sha256: this.#whole.digest("hex"),
    });
  }
}

/** Returns the tables of a part of an archive. */
function tablesOf({ kind }: ArchivePart, secrets: boolean): readonly ArchivedTable[] {
  const all = ARCHIVED_TABLES.filter(({ secret }) => secret !== true || secrets);
  switch (kind) {
    case "whole":
      return all.filter(({ moved }) => moved !== true);
    case "since":
      return all.filter(({ name }) => name === "projects");
    case "events":
      return [];
    case "pictures":
      return all.filter(({ name }) => name === "captures");
    case "rows":
      return all.filter(({ name }) => name !== "captures");
  }
}

/** Locates what to write, and holds merging if that includes events. */
async function begin(database: Database, { part, project }: ArchiveWanted): Promise<{
  readonly held: HeldSegments | null;
  readonly projects: readonly ProjectSnapshot[];
  readonly journalId: number;
}> {
  if (part.kind === "whole" || part.kind === "events") {
    const { held, snapshot } = await snapshotEvents(database, project);
    return { held, ...snapshot };
  }
  const projects = await listOwners(database);
  return {
    held: null,
    projects: projects.map((own) => ({ ...own, segments: [], pending: [], events: 0 })),
    journalId: 0,
  };
}

/**
 * Yields the bytes of an archive as they are made, in whole frames. It contains all events committed before the
 * call, and rows of other tables as they are when they are read. Ingestion continues meanwhile. Before the first
 * byte, throws `not_found` and `conflict`.
 */
export async function writeArchive(
  database: Database,
  wanted: ArchiveWanted,
): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>> {
  const { part } = wanted;
  const { held, projects, journalId } = await begin(database, wanted);
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
  const contents = new Contents(database, wanted.skipDamaged);
  contents.journalId = journalId;
  const owners: (Owner | null)[] = [...projects, ...wanted.project === null ? [null] : []];
  async function* frames() {
    held?.keep();
    try {
      yield contents.hashed(archiveBegin());
      yield contents.hashed(encodeJson("head", head));
      for (const table of tablesOf(part, wanted.secrets)) yield* contents.table(table, owners);
      if (part.kind === "since") yield* contents.eventsSince(part.journalId);
      if (held !== null) {
        for (const project of projects) yield* contents.events(project, held);
      }
      yield contents.end();
    } catch (error) {
      if (!(error instanceof DamagedEvents)) throw error;
      yield encodeJson("broken", { why: error.message });
    } finally {
      held?.[Symbol.dispose]();
    }
  }
  return frames();
}
