import { Cron } from "croner";
import { CAPTURE_LATENESS_MS_MAX } from "../capture_limits.ts";

/** When the daily job runs, as epoch milliseconds. */
export interface CaptureSchedule {
  /** Returns the first time after this one; null: there is none. */
  nextMs(afterMs: number): number | null;
  /** Returns the last time in `(afterMs, untilMs]` that is recent enough to be made up for; null: none. */
  dueMs(afterMs: number, untilMs: number): number | null;
}

/**
 * Parses a cron schedule of five fields, in UTC, with days of the week from 0 (Sunday) to 6 or by name. Deno.cron
 * counts them from 1 and refuses 0, so its job runs every minute and uses this to decide whether to do anything.
 * @throws Error that names the setting if the schedule is invalid
 */
export function createCaptureSchedule(schedule: string): CaptureSchedule {
  const cron = cronOf(schedule);
  const nextMs = (afterMs: number) => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
  return {
    nextMs,
    dueMs(afterMs, untilMs) {
      let due: number | null = null;
      let next = nextMs(Math.max(afterMs, untilMs - CAPTURE_LATENESS_MS_MAX));
      while (next !== null && next <= untilMs) {
        due = next;
        next = nextMs(next);
      }
      return due;
    },
  };
}

function cronOf(schedule: string): Cron {
  try {
    return new Cron(schedule, { timezone: "UTC", mode: "5-part" });
  } catch (cause) {
    throw new Error(
      `CAPTURE_SCHEDULE: ${schedule} is not a cron schedule of five fields, such as 0 3 * * *`,
      { cause },
    );
  }
}
