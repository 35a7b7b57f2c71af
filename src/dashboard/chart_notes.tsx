/// <reference lib="dom" />
import { lazyPart } from "./lazy_view.tsx";
import type { Interval } from "./location_query.ts";
import { hasScope } from "./session.ts";
import { SHARE_ID } from "./share.ts";

/** Where buckets stand: the first one, and how far from each other. */
export interface ChartPlace {
  readonly leftPx: number;
  readonly stepPx: number;
}

export interface ChartNotesProps {
  readonly title: string;
  /** Of the buckets. */
  readonly labels: readonly string[];
  readonly interval: Interval;
  /** Null: nothing is drawn yet. */
  readonly place: ChartPlace | null;
  readonly heightPx: number;
}

const Marks = lazyPart(async () => (await import("./note_marks.tsx")).NoteMarks);
const Button = lazyPart(async () => (await import("./note_marks.tsx")).NoteButton);

/** What was noted of the time that a chart shows. A share shows figures, and nothing else. */
export function ChartNotes(props: ChartNotesProps) {
  return SHARE_ID === null ? <Marks {...props} /> : null;
}

/** The way to a new note, for whoever may write. */
export function AddNote() {
  return SHARE_ID === null && hasScope("write") ? <Button /> : null;
}
