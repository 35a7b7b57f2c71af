import type { Printer } from "./command.ts";
import { createProgress } from "./progress.ts";
import { counted, grouped } from "../number_words.ts";

/** Shows the progress of an import. */
export interface ImportProgress {
  /** @param bytes how many were read from the file @param lines how many were answered in this run */
  update(bytes: number, lines: number): void;
  end(): void;
}

const WARM_UP_MS = 2_000;

/** Returns a time such as `3 min 20 s`. */
export function timeText(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

/** Makes a bar as `createProgress` does, with the rate and the remaining time. */
export function createImportProgress(
  print: Pick<Printer, "terminal" | "json">,
  label: string,
  size: number | null,
  now: () => number,
): ImportProgress {
  const bar = createProgress(print, label, size, now);
  const startedAt = now();
  let firstBytes: number | null = null;
  return {
    update(bytes, lines) {
      firstBytes ??= bytes;
      const ms = Math.max(1, now() - startedAt);
      const rate = Math.round(lines / (ms / 1000));
      const perMs = (bytes - firstBytes) / ms;
      const isKnown = size !== null && ms > WARM_UP_MS && perMs > 0;
      const left = isKnown ? `, ${timeText((size - bytes) / perMs / 1000)} left` : "";
      const text = `${counted(lines, "event")}, ${grouped(rate)}/s${left}`;
      bar.update(bytes, text);
    },
    end: () => bar.end(),
  };
}
