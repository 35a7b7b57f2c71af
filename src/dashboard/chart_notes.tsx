/// <reference lib="dom" />
import { lazyPart } from "./lazy_view.tsx";
import type { ChartNotesProps } from "./note_marks.tsx";
import { hasScope } from "./session.ts";
import { SHARE_ID } from "./share.ts";

const Marks = lazyPart(async () => (await import("./note_marks.tsx")).NoteMarks);
const Button = lazyPart(async () => (await import("./note_marks.tsx")).NoteButton);

/** The notes in the time that a chart shows; a share shows none. */
export function ChartNotes(props: ChartNotesProps) {
  return SHARE_ID === null ? <Marks {...props} /> : null;
}

/** The button for a new note, for people who may write. */
export function AddNote() {
  return SHARE_ID === null && hasScope("write") ? <Button /> : null;
}
