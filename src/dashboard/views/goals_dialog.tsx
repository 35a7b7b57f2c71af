/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { send } from "../api.ts";
import type { ApiProblem } from "../api_problem.ts";
import { Segments, TextField } from "../field.tsx";
import { useTyped } from "../form.tsx";
import { sharedParams } from "../location_state.ts";
import { type EventMatch, matchBody, MatchEditor } from "../match_editor.tsx";
import { counted } from "../number_format.ts";
import { FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { useRead } from "../resource.ts";
import { sendNew } from "../send_new.ts";
import { usePropertyKeys } from "../suggestions.ts";
import {
  bodyOf,
  faultsOf,
  type GoalFault,
  type GoalForm,
  slugOfForm,
  type ValueKind,
} from "./goals_form.ts";
import type { Goal } from "./goals_reading.ts";
import { SLUG_LENGTH_MAX } from "./goals_slug.ts";

const TITLE_LENGTH_MAX = 200;
/** The match is counted after a pause in typing of this length. */
const PAUSE_MS = 400;
const CURRENCIES = [
  "EUR",
  "USD",
  "GBP",
  "CHF",
  "SEK",
  "NOK",
  "DKK",
  "PLN",
  "CZK",
  "JPY",
  "CAD",
  "AUD",
];
const KINDS = [
  { value: "none", label: "None" },
  { value: "fixed", label: "Fixed" },
  { value: "property", label: "Property" },
];

interface PartProps {
  readonly form: GoalForm;
  readonly faults: GoalFault;
  readonly onChange: (changes: Partial<GoalForm>) => void;
}

/** How many people of the range match, so that a mistake shows before it is saved. */
function MatchCount({ match }: { match: EventMatch }) {
  const text = JSON.stringify([matchBody(match)]);
  const [steps, setSteps] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSteps(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const path = match.name ? "/v1/funnels" : null;
  const { state, data } = useRead<{ entered: number }>(path, { ...sharedParams(), steps });
  const isCurrent = state === "ready" && steps === text;
  return (
    <p class="muted small" role="status">
      {path === null
        ? "Choose an event to see how many people did it in this range."
        : !isCurrent || data === null
        ? state === "error" ? "This match could not be counted." : "Counting…"
        : `${counted(data.entered, "person", "people")} in this range.`}
    </p>
  );
}

function ValueFields({ form, faults, onChange }: PartProps) {
  const { kind, match, amount, property, currency } = form;
  const keys = usePropertyKeys(match.name);
  return (
    <fieldset class="choice-list goals-value">
      <legend class="field-label">Value of a conversion</legend>
      <Segments
        label="Value of a conversion"
        value={kind}
        choices={KINDS}
        onChange={(next) => onChange({ kind: next as ValueKind })}
      />
      {kind !== "none" && (
        <div class="field-pair">
          {kind === "fixed"
            ? (
              <TextField
                label="Amount"
                hint="What each conversion is worth."
                value={amount}
                error={faults.amount}
                onChange={(text) => onChange({ amount: text })}
              />
            )
            : (
              <TextField
                label="Property"
                hint="Its numbers are added up."
                value={property}
                placeholder="value"
                suggestions={keys}
                error={faults.property}
                onChange={(text) => onChange({ property: text })}
              />
            )}
          <TextField
            label="Currency"
            value={currency}
            maxLength={3}
            suggestions={CURRENCIES}
            error={faults.currency}
            onChange={(text) => onChange({ currency: text.toUpperCase() })}
          />
        </div>
      )}
    </fieldset>
  );
}

interface GoalDialogProps {
  readonly start: GoalForm;
  /** A saved goal keeps its slug. */
  readonly isNew: boolean;
  /** The slugs of the other goals. */
  readonly taken: readonly string[];
  readonly onSaved: (slug: string) => void;
  readonly onClose: () => void;
}

function faultsWith(faults: GoalFault, problem: ApiProblem | null): GoalFault {
  const title = problem?.messageFor("title");
  return title ? { title, ...faults } : faults;
}

/** The fields of a goal. */
function GoalFields({ form, faults, onChange, isNew, taken }: PartProps & {
  readonly isNew: boolean;
  readonly taken: readonly string[];
}) {
  return (
    <>
      <div class="field-pair">
        <TextField
          label="Title"
          value={form.title}
          placeholder="Sign-up"
          maxLength={TITLE_LENGTH_MAX}
          error={faults.title}
          onChange={(title) => onChange({ title })}
        />
        {isNew && (
          <TextField
            label="Short name"
            hint="For addresses and the API. It cannot be changed later."
            value={slugOfForm(form, taken)}
            maxLength={SLUG_LENGTH_MAX}
            error={faults.slug}
            onChange={(slug) => onChange({ slug: slug === "" ? null : slug })}
          />
        )}
      </div>
      <div class="stack">
        <MatchEditor
          label="Event that counts"
          value={form.match}
          error={faults.match}
          onChange={(match) => onChange({ match })}
        />
        <MatchCount match={form.match} />
      </div>
      <ValueFields {...{ form, faults, onChange }} />
    </>
  );
}

/** Creates or edits a goal. Past events count at once. */
export function GoalDialog({ start, isNew, taken, onSaved, onClose }: GoalDialogProps) {
  const { form, put } = useTyped(start);
  const [isTried, setTried] = useState(false);
  const faults = faultsOf(form, taken);
  const request = useRequest(async () => {
    const body = bodyOf(form);
    const saved = isNew
      ? await sendNew("/v1/goals", body, taken, (all) => slugOfForm(form, all))
      : await send<Goal>("PUT", `/v1/goals/${form.slug}`, body);
    onSaved(saved!.slug);
  });
  return (
    <FormDialog
      title={isNew ? "New goal" : "Edit the goal"}
      id="goals-form"
      request={request}
      action={isNew ? "Create goal" : "Save goal"}
      check={() => {
        setTried(true);
        return Object.keys(faults).length === 0;
      }}
      onClose={onClose}
    >
      <GoalFields
        {...{ form, isNew, taken }}
        faults={faultsWith(isTried ? faults : {}, request.problem)}
        onChange={put}
      />
      <p class="muted">A goal counts past events too, as soon as it is saved.</p>
    </FormDialog>
  );
}
