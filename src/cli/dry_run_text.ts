import type { Counted, ImportSummary } from "../importers/import_summary.ts";
import type { ImportSource } from "../importers/source.ts";
import type { Printer } from "./command.ts";
import { printable } from "./terminal.ts";
import { counted, grouped } from "../number_words.ts";

const INDENT = "  ";
const SAMPLE_LENGTH_MAX = 2_000;

function listed(counts: readonly Counted[]): string {
  return counts.map(({ what, count }) => `${printable(what)} ${grouped(count)}`).join(", ");
}

/** Returns a text of the manual without its Markdown. */
const plain = (text: string) => text.replaceAll("`", "").replaceAll("*", "");

function daysText({ days }: ImportSummary): string {
  if (days === null) return "";
  return days.first === days.last ? ` of ${days.first}` : ` from ${days.first} to ${days.last}`;
}

/** Returns a table of what a product stores and how it is imported. */
export function notesText(
  print: Printer,
  { title, notes }: Pick<ImportSource, "title" | "notes">,
): string {
  const rows = notes.map(({ theirs, ours, how }) => [
    plain(theirs),
    ours === null ? "not imported" : plain(ours),
    how === undefined ? "" : plain(how),
  ]);
  return print.table([title, "Footfall", ""], rows);
}

/** Returns the findings of a dry run, for people. */
export function dryRunText(
  print: Printer,
  source: ImportSource,
  project: string,
  summary: ImportSummary,
): string {
  const { events, known, refused, refusals, reasons, leftOut, names, sample } = summary;
  const left = leftOut.reduce((sum, { count }) => sum + count, 0);
  const heading = (text: string) => `\n${print.bold(text)}\n`;
  const lines = [
    `${print.bold(`${source.title} → ${project}`)}\n`,
    `${INDENT}${counted(events, "event")}${daysText(summary)}` +
    `${known === 0 ? "" : `, ${grouped(known)} of them stored already`}\n`,
  ];
  if (left > 0) lines.push(`${INDENT}${grouped(left)} left out: ${listed(leftOut)}\n`);
  if (refused > 0) {
    lines.push(`${INDENT}${grouped(refused)} refused: ${listed(reasons)}\n`);
    for (const { file, line, code, message } of refusals) {
      lines.push(
        `${INDENT}${INDENT}${printable(file)}, line ${line}: ${code}: ${printable(message)}\n`,
      );
    }
    if (refused > refusals.length) {
      lines.push(`${INDENT}${INDENT}and ${grouped(refused - refusals.length)} more\n`);
    }
  }
  if (names.length > 0) {
    lines.push(
      heading("Events"),
      print.table(["name", "events"], names.map(({ what, count }) => [what, grouped(count)])),
    );
  }
  lines.push(heading("What becomes of what"), notesText(print, source));
  if (sample.length > 0) {
    lines.push(heading("Sample"));
    for (const event of sample) {
      lines.push(`${INDENT}${printable(JSON.stringify(event).slice(0, SAMPLE_LENGTH_MAX))}\n`);
    }
  }
  return lines.join("");
}
