/// <reference lib="dom" />
import { useId, useState } from "preact/hooks";
import type { Note } from "../notes/notes.ts";
import { send } from "./api.ts";
import { changesOf } from "./changes.ts";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Button } from "./button.tsx";
import { effectiveTimezone } from "./location_state.ts";
import { instantOf, isDay, localTime } from "./note_times.ts";
import { date as dateText, dateTime } from "./number_format.ts";
import { Deletion, FormDialog } from "./request_dialogs.tsx";
import { useRequest } from "./request_state.tsx";
import { hasScope } from "./session.ts";

const TEXT_LENGTH_MAX = 500;

/** A note's time, in words. */
export function whenText({ at }: Pick<Note, "at">): string {
  return isDay(at) ? dateText(at) : dateTime(at, effectiveTimezone.value);
}

interface FormProps {
  /** Null: a new one. */
  readonly note: Note | null;
  /** The initial day of a new one. */
  readonly date: string;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** The form for when something happened, and what. */
function NoteForm({ note, date: day, onSaved, onClose }: FormProps) {
  const before = note === null
    ? { date: day, time: "" }
    : localTime(note.at, effectiveTimezone.value);
  const [date, setDate] = useState(before.date);
  const [time, setTime] = useState(before.time);
  const [text, setText] = useState(note?.text ?? "");
  const [isTried, setTried] = useState(false);
  const isTimeFaulty = time !== "" && !/^([01]\d|2[0-3]):[0-5]\d$/.test(time);
  const request = useRequest(async () => {
    const isSame = note !== null && date === before.date && time === before.time;
    const at = time === "" ? date : instantOf(date, time, effectiveTimezone.value);
    if (note === null) await send("POST", "/v1/notes", { text, at });
    else {
      const wanted = { text, at: isSame ? note.at : at };
      await send("PATCH", `/v1/notes/${note.id}`, changesOf(wanted, note));
    }
    onSaved();
  });
  return (
    <FormDialog
      title={note === null ? "Add a note" : "Change the note"}
      id={useId()}
      request={request}
      action={note === null ? "Add" : "Save"}
      check={() => {
        setTried(true);
        return text.trim() !== "" && date !== "" && !isTimeFaulty;
      }}
      onClose={onClose}
    >
      <TextField
        label="What happened"
        value={text}
        placeholder="Version 2.4 is live"
        maxLength={TEXT_LENGTH_MAX}
        error={isTried && text.trim() === "" ? "Write a few words." : null}
        onChange={setText}
      />
      <div class="field-pair">
        <TextField
          label="Day"
          type="date"
          value={date}
          error={isTried && date === "" ? "Choose a day." : null}
          onChange={setDate}
        />
        <TextField
          label="Time"
          value={time}
          placeholder="14:30"
          maxLength={5}
          hint="Without a time it is of the whole day."
          error={isTried && isTimeFaulty ? "Write a time such as 14:30, or none." : null}
          onChange={setTime}
        />
      </div>
    </FormDialog>
  );
}

interface EntryProps {
  readonly note: Note;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

function Entry({ note, onEdit, onDelete }: EntryProps) {
  return (
    <li class="note-entry">
      <p>{note.text}</p>
      <p class="muted">{whenText(note)} · {note.by}</p>
      {hasScope("write") && (
        <p class="note-actions">
          <Button icon="edit" kind="quiet" onClick={onEdit}>Change</Button>
          <Button icon="trash" kind="quiet" onClick={onDelete}>Delete</Button>
        </p>
      )}
    </li>
  );
}

interface NoteDialogProps {
  /** The notes of one mark; empty: a new one is written. */
  readonly notes: readonly Note[];
  readonly date: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** Shows the notes of one mark, to be changed or deleted; or the form for a new one. */
export function NoteDialog({ notes, date, onChanged, onClose }: NoteDialogProps) {
  const [editing, setEditing] = useState<Note | null>(null);
  const [deleting, setDeleting] = useState<Note | null>(null);
  const done = () => {
    onChanged();
    onClose();
  };
  if (notes.length === 0 || editing !== null) {
    return <NoteForm note={editing} date={date} onSaved={done} onClose={onClose} />;
  }
  if (deleting !== null) {
    return (
      <Deletion
        title="Delete this note?"
        action="Delete"
        path={`/v1/notes/${deleting.id}`}
        // The mark stays if it has other notes.
        isKept={notes.length > 1}
        onDone={onChanged}
        onClose={onClose}
      >
        “{deleting.text}” leaves the charts of everybody.
      </Deletion>
    );
  }
  return (
    <Dialog title={notes.length === 1 ? "Note" : "Notes"} onClose={onClose}>
      <ul class="stack-wide">
        {notes.map((note) => (
          <Entry
            key={note.id}
            note={note}
            onEdit={() => setEditing(note)}
            onDelete={() => setDeleting(note)}
          />
        ))}
      </ul>
    </Dialog>
  );
}
