import { stripVTControlCharacters } from "node:util";

/** Where a command writes. Tests use their own. */
export interface Terminal {
  out(text: string | Uint8Array): void;
  error(text: string): void;
  /** Whether the stream is a terminal, and not a file or pipe. */
  readonly outIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
  readonly columns: () => number;
}

const COLUMNS_UNKNOWN = 80;

/** Writes all of the text; a pipe may take less than it is given at once. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string | Uint8Array) {
  let rest = typeof text === "string" ? new TextEncoder().encode(text) : text;
  while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
}

/** Returns the process's own standard output and standard error. */
export function processTerminal(): Terminal {
  return {
    out: (text) => writeAll(Deno.stdout, text),
    error: (text) => writeAll(Deno.stderr, text),
    outIsTerminal: Deno.stdout.isTerminal(),
    errorIsTerminal: Deno.stderr.isTerminal(),
    columns: () => {
      try {
        // A terminal without a size has 0 columns, as those of `script` and `ssh -tt` in scripts.
        return Deno.consoleSize().columns || COLUMNS_UNKNOWN;
      } catch {
        return COLUMNS_UNKNOWN;
      }
    },
  };
}

const CONTROL = /\p{Cc}/gu;

/**
 * Returns text of others without control characters, so that it can neither move the terminal's cursor nor
 * forge a line.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, " ");
}

/** Returns a table with headings, each column as wide as its widest cell. Cells are made printable. */
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
