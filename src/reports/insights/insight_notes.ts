import { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { INSIGHT_NOTE_SHARE_MIN, INSIGHT_NOTES_MAX } from "../../limits.ts";
import { listNotes } from "../../notes/notes.ts";
import { dateAt } from "../../query/local_dates.ts";
import { type Range, startOfDay } from "../../query/range.ts";

/** A note as a finding names it. */
export const NoteOfFinding = z.object({
  at: z.string().describe("A local day (2026-01-31), or an instant in UTC"),
  text: z.string(),
}).meta({ id: "NoteOfFinding" });

/** A note, with its day. */
export type DatedNote = Awaited<ReturnType<typeof notesOfRange>>[number];

/** Reads the notes of a range and of the day before it. `day`: the index of its day in the range; -1: the one before. */
export async function notesOfRange(sql: Sql, projectId: number, range: Range) {
  const { timezone } = range;
  const first = dateAt(range.from.getTime(), timezone);
  const from = startOfDay(first.subtract({ days: 1 }), timezone);
  const notes = await listNotes(sql, projectId, { ...range, from }, range.timezone);
  return notes.map((note) => {
    const date = note.at.includes("T")
      ? dateAt(Date.parse(note.at), timezone)
      : Temporal.PlainDate.from(note.at);
    return { note, day: first.until(date).days, date: date.toString() };
  });
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

/**
 * Tells whether a change begins with a note of this day: most of the excess is on that day and later, and that
 * day or the next has at least half of the mean excess of these days.
 */
export function beginsWith(day: number, excessOfDays: readonly number[]): boolean {
  const sign = Math.sign(sumOf(excessOfDays));
  if (sign === 0) return false;
  const excess = excessOfDays.map((one) => one * sign);
  const later = excess.slice(Math.max(0, day));
  if (later.length === 0 || sumOf(later) < INSIGHT_NOTE_SHARE_MIN * sumOf(excess)) return false;
  const half = sumOf(later) / later.length / 2;
  return [day, day + 1].some((at) => (excess[at] ?? -Infinity) >= half);
}

/** Returns the notes with which a change begins, the latest first. */
export function notesOfChange(
  notes: readonly DatedNote[],
  excessOfDays: readonly number[],
): readonly DatedNote[] {
  return notes.filter(({ day }) => beginsWith(day, excessOfDays)).toReversed()
    .slice(0, INSIGHT_NOTES_MAX);
}
