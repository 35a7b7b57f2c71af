/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { SelectField } from "../field.tsx";
import { CommitField } from "../commit_field.tsx";
import { go } from "../location_state.ts";
import { Panel } from "../panel.tsx";
import { meantPath, readablePath } from "../../readable_path.ts";
import { useFieldValues } from "../suggestions.ts";
import {
  type JourneyPlace,
  type Question,
  STEPS_DEFAULT,
  STEPS_MAX,
  STEPS_MIN,
  textOfPlace,
  TOP_DEFAULT,
  TOPS,
  WINDOW_DEFAULT,
  WINDOWS,
} from "./journeys_question.ts";
import { MatchField } from "./trends_match_field.tsx";

const STEPS = Array.from({ length: STEPS_MAX - STEPS_MIN + 1 }, (_, i) => String(STEPS_MIN + i));
const BYS = [
  { value: "path", label: "Pages" },
  { value: "name", label: "Events" },
  { value: "both", label: "Pages and events" },
];
const SCOPES = [
  { value: "session", label: "Visits" },
  { value: "actor", label: "People, across visits" },
];

/** Changes the question, whose other ways leave nothing chosen. */
function ask(params: Readonly<Record<string, string | null>>): void {
  go({ params: { node: null, ...params } });
}

const orNull = (value: string, otherwise: string | number) =>
  value === String(otherwise) ? null : value;

interface PathFieldProps {
  readonly label: string;
  readonly path: string;
  readonly onChange: (path: string) => void;
}

/** A page's path. */
function PathField({ label, path, onChange }: PathFieldProps) {
  const known = useFieldValues("path", "page_view");
  return (
    <CommitField
      label={label}
      value={readablePath(path)}
      suggestions={known.map(readablePath)}
      onChange={(text) => onChange(meantPath(text, known))}
      placeholder="/pricing"
      maxLength={2048}
    />
  );
}

interface PlaceFieldProps {
  readonly name: "start" | "end";
  readonly place: JourneyPlace;
}

/** Where ways begin or end: a kind of place, and which. */
function PlaceField({ name, place }: PlaceFieldProps) {
  // In the address, a page without a path is anywhere; in the form it stays a page until the path is typed.
  const [kind, setKind] = useState(place.kind);
  const isChoosing = useRef(false);
  const text = textOfPlace(place);
  useEffect(() => {
    if (!isChoosing.current || place.kind !== "any") setKind(place.kind);
    isChoosing.current = false;
  }, [text]);
  const put = (next: JourneyPlace) => ask({ [name]: textOfPlace(next) });
  const label = name === "start" ? "Start" : "End";
  const choose = (value: string) => {
    const chosen = value as JourneyPlace["kind"];
    isChoosing.current = text !== null;
    setKind(chosen);
    put({ kind: "any" });
  };
  return (
    <div class="journeys-place">
      <SelectField
        label={label}
        value={kind}
        choices={[
          { value: "any", label: name === "start" ? "Anywhere" : "Wherever they go" },
          { value: "page", label: "At a page" },
          { value: "event", label: "With an event" },
        ]}
        onChange={choose}
      />
      {kind === "page" && (
        <PathField
          label={`${label}: path`}
          path={place.kind === "page" ? place.path : ""}
          onChange={(path) => put({ kind: "page", path })}
        />
      )}
      {kind === "event" && (
        <MatchField
          label={`${label}: event`}
          match={place.kind === "event" ? place.match : { name: null, filters: [] }}
          onChange={(match) => put({ kind: "event", match })}
        />
      )}
    </div>
  );
}

/** The question: start, end, what a step is, and how many. */
export function JourneysForm({ question }: { question: Question }) {
  const { start, end, by, steps, top, scope, window } = question;
  return (
    <Panel title="Question">
      <div class="journeys-question">
        <PlaceField name="start" place={start} />
        <PlaceField name="end" place={end} />
        <div class="journeys-choices">
          <SelectField
            label="A step is"
            value={by}
            choices={BYS}
            onChange={(value) => ask({ by: orNull(value, "path") })}
          />
          <SelectField
            label="Steps"
            value={String(steps)}
            choices={STEPS.map((value) => ({ value, label: value }))}
            onChange={(value) => ask({ steps: orNull(value, STEPS_DEFAULT) })}
          />
          <SelectField
            label="Values of a step"
            value={String(top)}
            choices={TOPS.map((each) => ({ value: String(each), label: String(each) }))}
            onChange={(value) => ask({ top: orNull(value, TOP_DEFAULT) })}
          />
          <SelectField
            label="Ways of"
            value={scope}
            choices={SCOPES}
            onChange={(value) => ask({ scope: orNull(value, "session") })}
          />
          {scope === "actor" && (
            <SelectField
              label="How far"
              value={window}
              choices={WINDOWS}
              onChange={(value) => ask({ window: orNull(value, WINDOW_DEFAULT) })}
            />
          )}
        </div>
      </div>
    </Panel>
  );
}
