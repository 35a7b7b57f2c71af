import { holdProject } from "../db/held_project.ts";
import { z } from "zod";
import { recentActions } from "../audit/audit.ts";
import { PlainText } from "../text_schemas.ts";
import { randomText } from "../auth/random_text.ts";
import type { Param, Row, Sql } from "../db/sql.ts";
import { Problem } from "../problem.ts";
import { dateOfDay, dayAt, dayNumber } from "../query/local_dates.ts";
import { BOUND_USAGE, boundOf, type Range, startOfDay } from "../query/range.ts";
import { NOTE_TEXT_LENGTH_MAX, NOTES_MAX, NOTES_PER_KEY_AND_HOUR_MAX } from "./note_limits.ts";

const ID = /^note_[A-Za-z0-9_-]{1,60}$/;
const HOUR_S = 3600;

/** The time of a note: a local day, or an instant. */
type NoteTime =
  | { readonly day: number; readonly atMs: null }
  | { readonly day: null; readonly atMs: number };

/** Parses the time of a note, which has the forms of a range's bound; null: the text has none. */
function readTime(text: string): NoteTime | null {
  const at = boundOf(text);
  if (at === null) return null;
  return at instanceof Date
    ? { day: null, atMs: at.getTime() }
    : { day: dayNumber(at), atMs: null };
}

const at = z.string().refine(
  // PostgreSQL and ISO 8601 write the year 0 differently.
  (text) => readTime(text) !== null && !text.startsWith("0000"),
  BOUND_USAGE,
).meta({ description: "A local day, or an instant.", example: "2026-01-31" });
const text = PlainText.trim().min(1, "Write something.")
  .max(NOTE_TEXT_LENGTH_MAX, `Use at most ${NOTE_TEXT_LENGTH_MAX} characters.`)
  .meta({ description: "What happened, in one line.", example: "Version 2.4 is live" });

/** Body of `POST /v1/notes`. */
export const NoteCreation = z.strictObject({
  at: at.optional().meta({ description: "A local day, or an instant. Default: now" }),
  text,
}).meta({ id: "NoteCreation" });

/** Body of `PATCH /v1/notes/:id`: what is absent stays. */
export const NoteChange = z.strictObject({ at, text }).partial().meta({ id: "NoteChange" });

/** A note as replies show it. */
export const NoteShown = z.object({
  id: z.string().meta({ example: "note_4fYc8Zq1" }),
  at: z.string().meta({ description: "A local day (2026-01-31), or an instant in UTC" }),
  text: z.string(),
  by: z.string().meta({ description: "Who wrote it: a person, a token, or an API key" }),
}).meta({ id: "Note" });

export type Note = z.output<typeof NoteShown>;
type NewNote = z.output<typeof NoteCreation>;
type NotePatch = z.output<typeof NoteChange>;

interface NoteRow extends Row {
  readonly note_id: string;
  readonly day: number | null;
  readonly at_ms: number | null;
  readonly text: string;
  readonly written_by: string;
}

const COLUMNS = "note_id, day, at_ms, text, written_by";

function noteOf({ note_id, day, at_ms, text, written_by }: NoteRow): Note {
  const at = day === null ? new Date(at_ms!).toISOString() : dateOfDay(day).toString();
  return { id: note_id, at, text, by: written_by };
}

/** Returns when a note's day begins in a time zone, or its instant, as epoch milliseconds. */
function beginsMs({ day, at_ms }: NoteRow, timezone: string): number {
  return day === null ? at_ms! : startOfDay(dateOfDay(day), timezone).getTime();
}

/**
 * Returns a project's notes, ordered by time, a day of the time zone before the instants in it.
 * @param range only the notes on days, by its time zone, and instants in it; null: all
 */
export async function listNotes(
  sql: Sql,
  projectId: number,
  range: Range | null,
  timezone: string,
): Promise<Note[]> {
  const bounds = range === null ? [null, null, null, null] : [
    range.from.getTime(),
    range.to.getTime(),
    dayAt(range.from.getTime(), range.timezone),
    dayAt(range.to.getTime() - 1, range.timezone),
  ];
  const rows = await sql.query<NoteRow>(
    `SELECT ${COLUMNS} FROM notes
    WHERE project_id = $1::int AND ($2::int8 IS NULL
      OR at_ms >= $2::int8 AND at_ms < $3::int8 OR day >= $4::int AND day <= $5::int)
    ORDER BY at_ms IS NOT NULL, created_at, note_id`,
    [projectId, ...bounds],
  );
  // The start of a day is looked up once a note, not at each comparison.
  const timed = rows.map((row) => ({ row, ms: beginsMs(row, timezone) }));
  return timed.sort((a, b) => a.ms - b.ms).map(({ row }) => noteOf(row));
}

function noSuchNote(): Problem {
  return new Problem("not_found", "There is no note with this id.");
}

/** Finds a note. Throws `not_found`. */
export async function requireNote(sql: Sql, projectId: number, id: string): Promise<Note> {
  const [row] = ID.test(id)
    ? await sql.query<NoteRow>(
      `SELECT ${COLUMNS} FROM notes WHERE project_id = $1::int AND note_id = $2::text`,
      [projectId, id],
    )
    : [];
  if (row === undefined) throw noSuchNote();
  return noteOf(row);
}

/** Who writes a note: their name, and the id of their API key, if they use one. */
export interface NoteAuthor {
  readonly by: string;
  readonly keyId: string | null;
}

/** Throws `conflict` if the project has too many notes. */
async function assertRoom(tx: Sql, projectId: number): Promise<void> {
  await holdProject(tx, projectId);
  const [known] = await tx.query<{ notes: number }>(
    "SELECT count(*)::int AS notes FROM notes WHERE project_id = $1::int",
    [projectId],
  );
  if (known!.notes >= NOTES_MAX) {
    throw new Problem(
      "conflict",
      `A project has at most ${NOTES_MAX} notes. Delete some that are not needed any more.`,
    );
  }
}

const WRITES = ["note.create", "note.change", "note.delete"] as const;

/** Throws `rate_limited` if, by the audit, an API key has changed a project's notes too often lately. */
export async function assertKeyMayWrite(
  tx: Sql,
  projectId: number,
  { by: who, keyId }: NoteAuthor,
): Promise<void> {
  if (keyId === null) return;
  await holdProject(tx, projectId);
  const wanted = { who, whats: WRITES, projectId };
  const { count, firstAgoS } = await recentActions(tx, wanted, HOUR_S, NOTES_PER_KEY_AND_HOUR_MAX);
  if (count < NOTES_PER_KEY_AND_HOUR_MAX) return;
  throw new Problem(
    "rate_limited",
    `An API key may write, change and delete ${NOTES_PER_KEY_AND_HOUR_MAX} notes an hour. Try again later.`,
    { headers: { "Retry-After": String(Math.max(1, Math.ceil(HOUR_S - firstAgoS))) } },
  );
}

/** Stores a note. Throws `conflict`. */
export async function createNote(
  tx: Sql,
  projectId: number,
  wanted: NewNote,
  { by, keyId }: NoteAuthor,
  nowMs: number,
): Promise<Note> {
  await assertRoom(tx, projectId);
  const time = wanted.at === undefined ? { day: null, atMs: nowMs } : readTime(wanted.at)!;
  const [row] = await tx.query<NoteRow>(
    `INSERT INTO notes (project_id, note_id, day, at_ms, text, written_by, key_id)
    VALUES ($1::int, $2::text, $3::int, $4::int8, $5::text, $6::text, $7::text)
    RETURNING ${COLUMNS}`,
    [projectId, `note_${randomText(16)}`, time.day, time.atMs, wanted.text, by, keyId],
  );
  return noteOf(row!);
}

/** Changes the members that the patch names. Throws `not_found`. */
export async function changeNote(
  tx: Sql,
  projectId: number,
  id: string,
  patch: NotePatch,
): Promise<Note> {
  const time = patch.at === undefined ? null : readTime(patch.at)!;
  const params: Param[] = [
    projectId,
    id,
    patch.text ?? null,
    time !== null,
    time?.day ?? null,
    time?.atMs ?? null,
  ];
  const [row] = await tx.query<NoteRow>(
    `UPDATE notes SET text = coalesce($3::text, text),
      day = CASE WHEN $4::bool THEN $5::int ELSE day END,
      at_ms = CASE WHEN $4::bool THEN $6::int8 ELSE at_ms END
    WHERE project_id = $1::int AND note_id = $2::text RETURNING ${COLUMNS}`,
    params,
  );
  if (row === undefined) throw noSuchNote();
  return noteOf(row);
}

/** Deletes a note. Returns it as it was. Throws `not_found`. */
export async function deleteNote(tx: Sql, projectId: number, id: string): Promise<Note> {
  const note = await requireNote(tx, projectId, id);
  await tx.query("DELETE FROM notes WHERE project_id = $1::int AND note_id = $2::text", [
    projectId,
    id,
  ]);
  return note;
}
