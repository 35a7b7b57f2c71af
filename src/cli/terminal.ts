import { stripVTControlCharacters } from "node:util";

/** Where a command writes. Tests hand in their own. */
export interface Terminal {
  out(text: string | Uint8Array): void;
  error(text: string): void;
  /** Whether a person looks at the stream. */
  readonly outIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
  readonly columns: () => number;
}

const COLUMNS_UNKNOWN = 80;

/** A pipe may take less than it is given. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string | Uint8Array) {
  let rest = typeof text === "string" ? new TextEncoder().encode(text) : text;
  while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
}

/** The process's own standard output and standard error. */
export function processTerminal(): Terminal {
  return {
    out: (text) => writeAll(Deno.stdout, text),
    error: (text) => writeAll(Deno.stderr, text),
    outIsTerminal: Deno.stdout.isTerminal(),
    errorIsTerminal: Deno.stderr.isTerminal(),
    columns: () => {
      try {
        return Deno.consoleSize().columns;
      } catch {
        return COLUMNS_UNKNOWN;
      }
    },
  };
}

// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Text from elsewhere, fit for a terminal: it moves no cursor and forges no line. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, " ");
}

/** Rows under headings, each column as wide as its widest cell. Cells are made printable. */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  bold: (text: string) => string,
): string {
  const cells = rows.map((row) => row.map((cell) => printable(String(cell ?? "–"))));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0))
  );
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd();
  return [bold(line(headings)), ...cells.map(line)].map((text) => `${text}\n`).join("");
}
