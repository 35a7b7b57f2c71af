/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { output } from "zod";
import type { ActorErased, ActorExport } from "../../reports/people/actors.ts";
import { read, send } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { download } from "../download.ts";
import { TextField } from "../field.tsx";
import { Button } from "../button.tsx";
import { Form } from "../form.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { counted, dateTime, NOTHING } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { ConfirmedRequest } from "../request_dialogs.tsx";
import { readableJson } from "./events_record.ts";

const DEFINITION =
  "Everything that is stored of one person: to be shown, saved or deleted when they ask for it.";

type PersonReply = output<typeof ActorExport>;
type ErasedReply = output<typeof ActorErased>;

function pathOf(id: string): string {
  return `/v1/actors/${encodeURIComponent(id)}`;
}

function when(instant: string | null): string {
  return instant === null ? NOTHING : dateTime(instant, effectiveTimezone.value);
}

/** Finding a person, and erasing who was found. */
function usePerson() {
  const [found, setFound] = useState<{ by: string; person: PersonReply } | null>(null);
  const [note, setNote] = useState<{ text: string; isBad: boolean } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const find = async (id: string) => {
    setBusy(true);
    setNote(null);
    setFound(null);
    try {
      setFound({ by: id, person: await read<PersonReply>(pathOf(id)) });
    } catch (error) {
      if (error instanceof ApiProblem) {
        const text = error.code === "not_found"
          ? "Nothing is stored of anyone by this id."
          : error.detail;
        setNote({ text, isBad: true });
      }
    }
    setBusy(false);
  };
  const erase = async (id: string) => {
    const reply = (await send<ErasedReply>("DELETE", pathOf(id)))!;
    setFound(null);
    const events = counted(reply.erased.events, "event");
    setNote({ text: `Erased: ${events}, with all visits and ids.`, isBad: false });
  };
  return { found, note, isBusy, find, erase };
}

interface FoundProps {
  readonly person: PersonReply;
  readonly onErase: () => void;
}

function Found({ person, onErase }: FoundProps) {
  const { actor, sessions, events } = person;
  const save = () => {
    const text = readableJson(person);
    download("person.json", new Blob([text], { type: "application/json" }));
  };
  return (
    <div class="settings-found">
      <dl class="settings-facts">
        <dt>User</dt>
        <dd>{actor.userId ?? NOTHING}</dd>
        <dt>Anonymous ids</dt>
        <dd>{actor.anonymousIds.join(", ") || NOTHING}</dd>
        <dt>First seen</dt>
        <dd>{when(actor.firstSeenAt)}</dd>
        <dt>Last seen</dt>
        <dd>{when(actor.lastSeenAt)}</dd>
        <dt>Stored</dt>
        <dd>
          {counted(events.length, "event")}, {counted(sessions.length, "visit")}
        </dd>
      </dl>
      <div class="settings-actions">
        <Button icon="download" onClick={save}>Download this person's data</Button>
        <Button icon="trash" kind="danger" onClick={onErase}>Erase this person</Button>
      </div>
    </div>
  );
}

/** Shows what is stored of a person, and erases it. */
export function PersonPanel() {
  const [id, setId] = useState("");
  const [isAsked, setAsked] = useState(false);
  const { found, note, isBusy, find, erase } = usePerson();
  // A person who was found by another id than the one in the field is not shown.
  const person = found?.by === id.trim() ? found.person : null;
  return (
    <Panel title="Data requests (GDPR)" definition={DEFINITION}>
      <Form class="settings-form" onSubmit={() => id.trim() !== "" && void find(id.trim())}>
        <div class="settings-inline">
          <TextField
            label="User id, anonymous id or visitor hash"
            value={id}
            onChange={setId}
            maxLength={200}
          />
          <Button type="submit" disabled={isBusy || id.trim() === ""}>Look up</Button>
        </div>
        <p role="status" class={note?.isBad ? "field-error" : "muted"}>
          {isBusy
            ? "One moment…"
            : note?.text ?? (person === null ? "" : "What is stored of this person:")}
        </p>
      </Form>
      {person !== null && <Found person={person} onErase={() => setAsked(true)} />}
      {isAsked && person !== null && (
        <ConfirmedRequest
          title={`Erase ${person.actor.userId ?? id.trim()}?`}
          action="Erase for good"
          ask={async () => {
            await erase(person.actor.id);
            setAsked(false);
          }}
          onClose={() => setAsked(false)}
        >
          {counted(person.events.length, "event")}{" "}
          and everything counted from them will be deleted. All numbers of the past change
          accordingly, and it cannot be undone.
        </ConfirmedRequest>
      )}
    </Panel>
  );
}
