/// <reference lib="dom" />
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Note } from "../notes/notes.ts";
import { Icon } from "./icons.tsx";
import { DialogOpener } from "./dialog.tsx";
import { dateIn, type Interval } from "./location_query.ts";
import { currentDates, effectiveTimezone, timezone } from "./location_state.ts";
import { NoteDialog, whenText } from "./note_dialog.tsx";
import { bucketOfNote } from "./note_times.ts";
import { useRead } from "./resource.ts";

/** The position of the buckets: of the first one, and their distance. */
export interface ChartPlace {
  readonly leftPx: number;
  readonly stepPx: number;
}

export interface ChartNotesProps {
  readonly title: string;
  /** The buckets' labels. */
  readonly labels: readonly string[];
  readonly interval: Interval;
  /** Null: the chart is not drawn yet. */
  readonly place: ChartPlace | null;
  readonly heightPx: number;
}

/** Marks that are nearer to each other are merged. */
const APART_PX = 20;
/** The axis of the time below the lines, and the air above them. */
const BELOW_PX = 28;
const ABOVE_PX = 12;

/** Incremented with each change of notes, so that every chart reads them again. */
const changes = signal(0);

function useNotes(): readonly Note[] {
  const { data, reload } = useRead<{ readonly notes: readonly Note[] }>("/v1/notes", {
    ...currentDates(),
    timezone: timezone.value,
  });
  const turn = changes.value;
  useEffect(() => {
    if (turn > 0) reload();
  }, [turn]);
  return data?.notes ?? [];
}

interface Mark {
  readonly leftPx: number;
  readonly notes: readonly Note[];
}

/** The marks of notes, from left to right; notes that would overlap share one. */
function marksOf(
  notes: readonly Note[],
  { labels, interval, place }: ChartNotesProps,
): readonly Mark[] {
  if (place === null) return [];
  const placed = notes.flatMap((note) => {
    const index = bucketOfNote(labels, interval, note.at, effectiveTimezone.value);
    return index === null ? [] : [{ note, leftPx: place.leftPx + index * place.stepPx }];
  }).toSorted((a, b) => a.leftPx - b.leftPx);
  const marks: { leftPx: number; notes: Note[] }[] = [];
  for (const { note, leftPx } of placed) {
    const last = marks.at(-1);
    if (last !== undefined && leftPx - last.leftPx < APART_PX) last.notes.push(note);
    else marks.push({ leftPx, notes: [note] });
  }
  return marks;
}

const spoken = (notes: readonly Note[]) =>
  notes.map((note) => `${whenText(note)}: ${note.text}`).join("; ");

interface MarkButtonProps {
  readonly mark: Mark;
  /** On the right half of the chart, where the text is left of its mark. */
  readonly isRight: boolean;
  readonly linePx: number;
  readonly onOpen: () => void;
}

function MarkButton({ mark: { leftPx, notes }, isRight, linePx, onOpen }: MarkButtonProps) {
  return (
    <li class="chart-note" style={{ left: `${leftPx}px` }}>
      <span class="chart-note-line" style={{ height: `${linePx}px` }} aria-hidden="true" />
      <button
        type="button"
        class="chart-note-button"
        aria-label={`Note of ${spoken(notes)}`}
        onClick={onOpen}
      >
        {notes.length > 1 ? notes.length : <Icon name="log" size={12} />}
      </button>
      <span
        class={isRight ? "chart-note-text chart-note-text-left tip" : "chart-note-text tip"}
        aria-hidden="true"
      >
        {notes.map((note) => (
          <span key={note.id} class="chart-note-entry">
            <span class="muted">{whenText(note)}</span> {note.text}
          </span>
        ))}
      </span>
    </li>
  );
}

/** The marks of a chart's notes below it, each with its text; a click opens them. */
export function NoteMarks(props: ChartNotesProps) {
  const notes = useNotes();
  const [opened, setOpened] = useState<readonly Note[] | null>(null);
  const marks = marksOf(notes, props);
  const widthPx = (props.place?.stepPx ?? 0) * (props.labels.length - 1);
  return (
    <>
      {marks.length > 0 && (
        <ul class="chart-notes" aria-label={`Notes: ${props.title}`}>
          {marks.map((mark) => (
            <MarkButton
              key={mark.notes[0]!.id}
              mark={mark}
              isRight={mark.leftPx > (props.place?.leftPx ?? 0) + widthPx / 2}
              linePx={props.heightPx - BELOW_PX - ABOVE_PX}
              onOpen={() => setOpened(mark.notes)}
            />
          ))}
        </ul>
      )}
      {opened !== null && (
        <NoteDialog
          notes={opened}
          date=""
          onChanged={() => changes.value++}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

/** The button for a new note: of today if the range has it, else of the range's last day. */
export function NoteButton() {
  const { from, to } = currentDates();
  const today = dateIn(effectiveTimezone.value, Date.now());
  return (
    <DialogOpener
      icon="plus"
      kind="quiet"
      dialog={(onClose) => (
        <NoteDialog
          notes={[]}
          date={today >= from && today <= to ? today : to}
          onChanged={() => changes.value++}
          onClose={onClose}
        />
      )}
    >
      Note
    </DialogOpener>
  );
}
