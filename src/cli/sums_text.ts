import type { GatheredSums } from "../importers/sums/gathered_sums.ts";
import type { SumSource } from "../importers/sums/sum_source.ts";
import type { Printer } from "./command.ts";
import { notesText } from "./dry_run_text.ts";
import { printable } from "./terminal.ts";
import { counted, grouped } from "../number_words.ts";

const INDENT = "  ";
/** The most refused rows that are listed. */
export const REFUSALS_SHOWN = 20;

/** A row that is not imported, and why. */
export interface RefusedRow {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly message: string;
  /** The content of the row as JSON; empty: it could not be read. */
  readonly row: string;
}

/** The content of the files. */
export interface SumsFound {
  readonly files: readonly { readonly name: string; readonly table: string | null; rows: number }[];
  readonly sums: GatheredSums;
  readonly refused: number;
  /** The first refused rows. */
  readonly refusals: readonly RefusedRow[];
}

/** The outcome of storing days, or of a dry run of it. */
export interface StoredSums {
  readonly added: number;
  readonly replaced: number;
  readonly unchanged: number;
}

/** What decides which of the days are shown: only those before the project's first own day. */
export interface ShownDays {
  /** The day of the project's first counted event of its own; null: it has none. */
  readonly firstOwnDay: string | null;
  /** The first days, for people to check. */
  readonly sample: ReturnType<GatheredSums["sample"]>;
}

/** Says how many of the days are before the first own day. */
function shownText({ firstOwnDay }: ShownDays, sums: GatheredSums): string {
  if (firstOwnDay === null) {
    return "All of them are shown: the project has no counted event of its own yet.";
  }
  const shown = counted(sums.countDays(firstOwnDay), "of them is shown", "of them are shown");
  return `${shown}: what lies before ${firstOwnDay}, the day of the first counted own event.`;
}

function sampleText(print: Printer, { sample }: ShownDays): string {
  const rows = sample.map(({ day, whole }) => [
    day,
    ...[whole.visitors, whole.visits, whole.pageviews].map((count) =>
      count === null ? null : grouped(count)
    ),
  ]);
  return print.table(["day", "visitors", "visits", "page views"], rows);
}

/** Returns the findings of a dry run, for people. */
export function sumsText(
  print: Printer,
  source: SumSource,
  project: string,
  { files, sums, refused, refusals }: SumsFound,
  shownDays: ShownDays,
  compared: StoredSums,
): string {
  const heading = (text: string) => `\n${print.bold(text)}\n`;
  const { extent, eventDaysAlone } = sums;
  const lines = [`${print.bold(`${source.title} → ${project}`)}\n`];
  if (extent !== null) {
    const days = `${counted(sums.countDays(), "day")} from ${extent.first} to ${extent.last}`;
    const replacing = counted(compared.replaced, "replaces", "replace");
    const unchanged = counted(compared.unchanged, "is", "are");
    lines.push(
      `${INDENT}${days}, taken as the project's local days\n`,
      `${INDENT}${shownText(shownDays, sums)}\n`,
      `${INDENT}Sums of days: ${grouped(compared.added)} new, ${replacing} what was imported ` +
        `before, ${unchanged} there already\n`,
    );
  }
  if (eventDaysAlone > 0) {
    lines.push(
      `${INDENT}${counted(eventDaysAlone, "day")} of custom events left out: no file has their ` +
        "page views; import totals or pages of these days along with them\n",
    );
  }
  if (refused > 0) {
    lines.push(`${INDENT}${counted(refused, "row")} refused\n`);
    const shown = refusals.slice(0, REFUSALS_SHOWN);
    for (const { file, line, code, message } of shown) {
      lines.push(
        `${INDENT}${INDENT}${printable(file)}, line ${line}: ${code}: ${printable(message)}\n`,
      );
    }
    if (refused > shown.length) {
      lines.push(`${INDENT}${INDENT}and ${grouped(refused - shown.length)} more\n`);
    }
  }
  lines.push(
    heading("Files"),
    print.table(
      ["file", "holds", "rows"],
      files.map(({ name, table, rows }) => [
        printable(name),
        table === null ? "not imported" : printable(table),
        grouped(rows),
      ]),
    ),
    heading("What becomes of what"),
    notesText(print, source),
  );
  if (shownDays.sample.length > 0) lines.push(heading("Sample"), sampleText(print, shownDays));
  return lines.join("");
}
