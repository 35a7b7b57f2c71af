/** The benchmark's events as rows, made by the server's own pipeline, and the two ways around the server to store them. */
import { join } from "node:path";
import type { Sql } from "../src/db/sql.ts";
import { insertEvents } from "../src/ingest/event_insert.ts";
import type { EventRow } from "../src/store/event_row.ts";
import { readEvent } from "../src/ingest/event_schema.ts";
import { openGeo } from "../src/ingest/geo.ts";
import { enricher } from "../src/ingest/pipeline.ts";
import { createAgentReader } from "../src/ingest/user_agent.ts";
import { createVisitorHasher } from "../src/ingest/visitor_hash.ts";
import { EARLIER_COLUMNS } from "../src/upgrade/earlier_rows.ts";
import { findPostgresBinaries } from "../tests/support/throwaway_postgres.ts";
import {
  ANONYMOUS_ID_PLACE,
  EVENT_ID_PLACE,
  type EventKind,
  seededRandom,
  typicalBatches,
  USER_AGENTS,
  USER_ID_PLACE,
  userAgent,
  visitorAddress,
  visitorAnonymousId,
  VISITORS,
  visitorUserId,
  writeEventId,
} from "./typical_events.ts";

export interface TypicalRow {
  readonly kind: EventKind;
  readonly row: EventRow;
}

const COLUMNS = EARLIER_COLUMNS;
const COPY = `COPY events (${COLUMNS.join(", ")}) FROM STDIN;\n`;
const END_OF_COPY = "\\.\n";
/** A visitor's batch arrives within a moment: about as many events in a millisecond. */
const EVENTS_PER_MS = 25;

/** `batches` requests of ten, as the server makes rows of them; ids and times are placeholders. */
export async function typicalRows(batches: number, projectId: number): Promise<TypicalRow[]> {
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const tools = {
    readAgent: createAgentReader(),
    geo: await openGeo(null),
    hasher: createVisitorHasher(() => Promise.resolve(salt)),
  };
  const rows: TypicalRow[] = [];
  const all = typicalBatches(batches, 10, seededRandom(1));
  for (const [i, batch] of all.entries()) {
    const visitor = (i * 7) % VISITORS;
    const arrival = {
      projectId,
      projectPublicId: "prj_default",
      receivedAtMs: Date.now(),
      clockOffsetMs: 0,
      ip: visitorAddress(visitor),
      userAgent: userAgent(visitor % USER_AGENTS),
      fromBackend: false,
      ipStorage: "full" as const,
    };
    const enriching = enricher(arrival, tools);
    for (const { kind, event } of batch) {
      const input = readEvent(event, { size: false, text: false });
      const row = enriching.rowOf(input);
      if (row.anonymous_id === ANONYMOUS_ID_PLACE) row.anonymous_id = visitorAnonymousId(visitor);
      if (row.user_id === USER_ID_PLACE) row.user_id = visitorUserId(visitor);
      rows.push({ kind, row });
    }
    await enriching.complete();
  }
  return rows;
}

const idBytes = new Uint8Array(EVENT_ID_PLACE.length);
const decoder = new TextDecoder();

/** `count` rows with ids and times of their own, repeating `rows`; in the order of their ids' times. */
export function* freshRows(rows: readonly TypicalRow[], count: number): Generator<EventRow> {
  const startMs = Date.now();
  for (let i = 0; i < count; i++) {
    const ms = startMs + Math.floor(i / EVENTS_PER_MS);
    writeEventId(idBytes, 0, ms);
    const time = new Date(ms).toISOString();
    yield {
      ...rows[i % rows.length]!.row,
      event_id: decoder.decode(idBytes),
      occurred_at: time,
      received_at: time,
    };
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

function copyLine(row: EventRow): string {
  const fields = COLUMNS.map((column) => {
    const value = row[column];
    return value === null ? "\\N" : String(value).replace(/[\\\t\n\r]/g, (c) => ESCAPES[c]!);
  });
  return `${fields.join("\t")}\n`;
}

/** How rows are copied: by how many connections, and how many rows in each transaction. */
export interface CopyWay {
  readonly streams: number;
  readonly rowsPerCommit: number | null;
}

export const COPY_WAYS: readonly CopyWay[] = [
  { streams: 1, rowsPerCommit: null },
  { streams: 1, rowsPerCommit: 5_000 },
  { streams: 2, rowsPerCommit: null },
  { streams: 2, rowsPerCommit: 5_000 },
];

export function describeCopy({ streams, rowsPerCommit }: CopyWay): string {
  const commits = rowsPerCommit === null ? "one commit each" : `${rowsPerCommit} rows a commit`;
  return `COPY, ${streams} connection${streams === 1 ? "" : "s"}, ${commits}`;
}

/** Stores rows by `psql` from files that were written before. @returns rows per second */
export async function measureCopy(
  url: string,
  folder: string,
  way: CopyWay,
  rows: Iterable<EventRow>,
): Promise<number> {
  const paths = Array.from({ length: way.streams }, (_, i) => join(folder, `copy_${i}.sql`));
  const count = writeCopyFiles(paths, way.rowsPerCommit ?? Infinity, rows);
  const startedAt = performance.now();
  await Promise.all(paths.map((path) => psql(url, path)));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const path of paths) Deno.removeSync(path);
  return count / seconds;
}

/** Neighbouring chunks go to different files, so that the connections work side by side on the same pages. */
function writeCopyFiles(paths: string[], rowsPerCommit: number, rows: Iterable<EventRow>): number {
  const encoder = new TextEncoder();
  const chunkRows = Math.min(rowsPerCommit, 5_000);
  const files = paths.map((path) => Deno.openSync(path, { write: true, create: true }));
  const write = (file: number, text: string) => {
    for (let bytes = encoder.encode(text); bytes.length > 0;) {
      bytes = bytes.subarray(files[file]!.writeSync(bytes));
    }
  };
  let count = 0;
  let chunks = 0;
  let lines: string[] = [];
  const flush = () => {
    const first = chunks < paths.length;
    const file = chunks++ % paths.length;
    const begin = first ? COPY : rowsPerCommit === Infinity ? "" : END_OF_COPY + COPY;
    write(file, begin + lines.join(""));
    lines = [];
  };
  for (const row of rows) {
    lines.push(copyLine(row));
    count++;
    if (lines.length === chunkRows) flush();
  }
  if (lines.length > 0) flush();
  files.forEach((file, i) => {
    if (i < chunks) write(i, END_OF_COPY);
    file.close();
  });
  return count;
}

async function psql(url: string, path: string): Promise<void> {
  const binaries = findPostgresBinaries();
  const { success, stderr } = await new Deno.Command(join(binaries ?? "", "psql"), {
    args: ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", path],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`psql failed: ${new TextDecoder().decode(stderr)}`);
}

const GROUP_ROWS = 1_000;
const INSERT_CONNECTIONS = 2;

/** Stores rows by the server's own grouped INSERT, without the server. @returns rows per second */
export async function measureInsert(sql: Sql, rows: Iterable<EventRow>): Promise<number> {
  const all = [...rows];
  const groups = Array.from(
    { length: Math.ceil(all.length / GROUP_ROWS) },
    (_, i) =>
      all.slice(i * GROUP_ROWS, (i + 1) * GROUP_ROWS)
        .sort((a, b) => a.event_id < b.event_id ? -1 : 1),
  );
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: INSERT_CONNECTIONS }, async () => {
    while (next < groups.length) await insertEvents(sql, groups[next++]!);
  }));
  return all.length / ((performance.now() - startedAt) / 1000);
}
