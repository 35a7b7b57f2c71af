/** How fast events are stored, archived and restored, on the embedded engine, and bytes of an event in the file. */
import { zstdCompressSync } from "node:zlib";
import { eventsOf, readFrames } from "../src/archive/archive_format.ts";
import { writeArchive } from "../src/archive/archive_writer.ts";
import { readFigures } from "../src/archive/read_figures.ts";
import { restoreEvents } from "../src/archive/restored_events.ts";
import { randomText } from "../src/auth/random_text.ts";
import { migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import { openDatabase } from "../src/db/open.ts";
import type { Database } from "../src/db/sql.ts";
import { insertEvents } from "../src/ingest/event_insert.ts";
import { createProjection } from "../src/projection/projection.ts";
import type { EventRow } from "../src/store/event_row.ts";
import { dropEmptiedTable } from "../src/upgrade/earlier_projects.ts";
import { typicalRows } from "./stored_rows.ts";

const EVENTS = Number(Deno.args[0] ?? 100_000);
const AT_ONCE = 2_000;
/** Lines that are compressed for comparison: one text holds no more of them than some hundred thousand. */
const LINES_MAX = 100_000;
const BATCH_EVENTS = 10;
const BEGIN_MS = Date.parse("2026-03-01T00:00:00Z");

async function open(dataDir: string): Promise<Database> {
  const options = { databaseUrl: null, dataDir, statementTimeoutMs: 60_000, connectionsMax: 1 };
  const database = await openDatabase(options);
  await migrate(database, MIGRATIONS);
  await dropEmptiedTable(database);
  await database.query("INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One')");
  return database;
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const rss = Deno.memoryUsage().rss / 2 ** 20;
  console.log(`${name.padEnd(34)} ${Math.round(EVENTS / seconds)} events/s, ${rss.toFixed(0)} MiB`);
}

const folders = [await Deno.makeTempDir(), await Deno.makeTempDir()];
const source = await open(folders[0]!);
const target = await open(folders[1]!);
try {
  const made = await typicalRows(Math.ceil(EVENTS / BATCH_EVENTS), 1);
  const rows: EventRow[] = made.slice(0, EVENTS).map(({ row }, i) => {
    const at = new Date(BEGIN_MS + 100 * i).toISOString();
    return { ...row, event_id: crypto.randomUUID(), occurred_at: at, received_at: at };
  });
  await timed("stored, as a flush does", async () => {
    for (let from = 0; from < EVENTS; from += AT_ONCE) {
      await insertEvents(source, rows.slice(from, from + AT_ONCE));
    }
  });
  await timed("projected", () => createProjection(source).catchUp(1));
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  await timed("archived, from segments", async () => {
    const wanted = {
      project: null,
      secrets: false,
      skipDamaged: false,
      footfall: "bench",
      nowMs: Date.now(),
      randomText,
    };
    for await (const bytes of await writeArchive(source, { ...wanted, part: { kind: "whole" } })) {
      chunks.push(bytes);
    }
  });
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const some = rows.slice(0, LINES_MAX);
  const lines = new TextEncoder().encode(some.map((row) => JSON.stringify(row)).join("\n"));
  const asLines = zstdCompressSync(lines).length / some.length;
  console.log(
    `bytes an event: ${(bytes / EVENTS).toFixed(1)} in blocks, ` +
      `${asLines.toFixed(1)} as NDJSON by zstd`,
  );
  await timed("restored", async () => {
    for await (const frame of readFrames(ReadableStream.from(chunks))) {
      if (frame.kind === "events") await restoreEvents(target, 1, eventsOf(frame).block);
    }
  });
  await timed("counted and compared, unprojected", async () => {
    for await (const _ of await readFigures(target, null));
  });
} finally {
  await source.close();
  await target.close();
  for (const folder of folders) await Deno.remove(folder, { recursive: true });
}
