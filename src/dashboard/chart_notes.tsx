/// <reference lib="dom" />
import { lazyPart } from "./lazy_view.tsx";
import type { ChartNotesProps } from "./note_marks.tsx";
import { hasScope } from "./session.ts";
import { SHARE_ID } from "./share.ts";

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
