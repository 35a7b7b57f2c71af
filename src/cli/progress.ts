import type { Printer } from "./command.ts";

/** Shows the progress of a long command. */
export interface Progress {
  /** Shows how much of the total is done, and a note such as `1,234 events`. */
  update(done: number, note: string): void;
  /** Removes the bar. */
  end(): void;
}

const REDRAW_MS = 100;
const BAR_CELLS_MIN = 5;
const BAR_CELLS_MAX = 30;
/** The characters besides the bar, the label and the note: blanks, and `100%`. */
const BESIDE_LENGTH = 11;
/** Shows nothing. */
export const SILENT: Progress = { update: () => {}, end: () => {} };

function bar(done: number, total: number, room: number): string {
  const cells = Math.min(BAR_CELLS_MAX, Math.max(BAR_CELLS_MIN, room));
  const full = Math.round(Math.min(1, done / Math.max(1, total)) * cells);
  const percent = Math.floor(100 * Math.min(1, done / Math.max(1, total)));
  return `${"█".repeat(full)}${"░".repeat(cells - full)} ${String(percent).padStart(3)}%`;
}

/**
 * Makes a bar on standard error, redrawn at most ten times a second; it shows nothing with `--json`, and
 * nothing without a terminal.
 * @param total null: unknown, and only the note is shown
 */
export function createProgress(
  { terminal, json }: Pick<Printer, "terminal" | "json">,
  label: string,
  total: number | null,
  now: () => number,
): Progress {
  if (json || !terminal.errorIsTerminal) return SILENT;
  let drawnAt = -Infinity;
  return {
    update(done, note) {
      if (now() - drawnAt < REDRAW_MS) return;
      drawnAt = now();
      const columns = terminal.columns();
      const room = columns - label.length - note.length - BESIDE_LENGTH;
      const text = [label, total === null ? null : bar(done, total, room), note]
        .filter((part) => part !== null).join("  ");
      terminal.error(`\r\x1b[2K${text.slice(0, columns - 1)}`);
    },
    end: () => terminal.error("\r\x1b[2K"),
  };
}
