import { gzipSync } from "node:zlib";
import { converted, fileRows, mapContext } from "../../src/importers/conversion.ts";
import type { Converted } from "../../src/importers/conversion.ts";
import { type InputFile, memoryFile } from "../../src/importers/input_file.ts";
import type { ImportSource } from "../../src/importers/source.ts";
import type { ImportedEvent } from "../../src/event_file/exported_event.ts";

export const PROJECT = "prj_test";
const UTF8 = new TextEncoder();

/** A file of text. */
export function textFile(name: string, text: string): InputFile {
  return memoryFile(name, UTF8.encode(text));
}

/** A file of JSON lines. */
export function jsonLines(name: string, rows: readonly unknown[]): InputFile {
  return textFile(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

export function gzipped(file: { name: string; bytes: Uint8Array }): InputFile {
  return memoryFile(file.name, new Uint8Array(gzipSync(file.bytes)));
}

/** A file of CSV, every cell in quotes. */
export function csvFile(name: string, rows: readonly (readonly unknown[])[]): InputFile {
  const cell = (value: unknown) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  return textFile(name, rows.map((row) => `${row.map(cell).join(",")}\r\n`).join(""));
}

/** All that becomes of files. */
export async function convertedFiles(
  source: ImportSource,
  files: readonly InputFile[],
  timeZone: string | null = null,
): Promise<Converted[]> {
  const context = mapContext(source, PROJECT, timeZone);
  const rows = fileRows(source, files, context, () => {});
  const all: Converted[] = [];
  for await (const batch of converted({ source, rows, context })) all.push(...batch);
  return all;
}

/** The events among them. */
export function eventsOf(all: readonly Converted[]): ImportedEvent[] {
  return all.flatMap(({ outcome }) => "event" in outcome ? [outcome.event] : []);
}

/** What is refused, and where. */
export function refusalsOf(all: readonly Converted[]) {
  return all.flatMap(({ file, line, outcome }) =>
    "refused" in outcome ? [{ file, line, code: outcome.refused.code }] : []
  );
}

/** The events that become of rows of JSON. */
export async function mapped(source: ImportSource, ...rows: readonly unknown[]) {
  return eventsOf(await convertedFiles(source, [jsonLines("f.json", rows)]));
}
