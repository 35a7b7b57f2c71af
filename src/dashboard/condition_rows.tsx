/// <reference lib="dom" />
import { type Choice, Segments, SelectField, TextField } from "./field.tsx";
import { Button } from "./button.tsx";
import { MatchEditor } from "./match_editor.tsx";
import { useRead } from "./resource.ts";
import {
  type ConditionRow,
  NEW_ROW,
  type Often,
  type RowKind,
  type SegmentFault,
  type SegmentForm,
  type When,
} from "./segment_form.ts";

/** The kinds of rows, each also negated by "not". */
const KINDS: readonly Choice[] = [
  { value: "did", label: "Did" },
  { value: "not did", label: "Did not do" },
  { value: "goal", label: "Reached the goal" },
  { value: "not goal", label: "Did not reach the goal" },
  { value: "firstSeen", label: "Was first seen" },
  { value: "not firstSeen", label: "Was not first seen" },
];
const OFTEN: readonly Choice[] = [
  { value: "atLeast", label: "At least" },
  { value: "atMost", label: "At most" },
  { value: "exactly", label: "Exactly" },
];
const WHEN: readonly Choice[] = [
  { value: "range", label: "In the range that is shown" },
  { value: "days", label: "In the last days of it" },
  { value: "span", label: "Between two dates" },
];

const TOGETHER: readonly Choice[] = [
  { value: "all", label: "All of these hold" },
  { value: "any", label: "Any of these holds" },
];

interface RowProps {
  readonly row: ConditionRow;
  readonly onChange: (changes: Partial<ConditionRow>) => void;
}

function Times({ row: { often, times }, onChange }: RowProps) {
  return (
    <div class="field-pair">
      <SelectField
        label="How often"
        value={often}
        choices={OFTEN}
        onChange={(value) => onChange({ often: value as Often })}
      />
      <TextField
        label="Times"
        type="number"
        min={often === "atLeast" ? "1" : "0"}
        value={times}
        onChange={(value) => onChange({ times: value })}
      />
    </div>
  );
}

function Dates({ row: { from, to }, onChange }: RowProps) {
  return (
    <div class="field-pair">
      <TextField label="From" type="date" value={from} onChange={(from) => onChange({ from })} />
      <TextField label="To" type="date" value={to} onChange={(to) => onChange({ to })} />
    </div>
  );
}

function Time(props: RowProps) {
  const { row: { when, days }, onChange } = props;
  return (
    <>
      <div class="field-pair">
        <SelectField
          label="When"
          value={when}
          choices={WHEN}
          onChange={(value) => onChange({ when: value as When })}
        />
        {when === "days" && (
          <TextField
            label="Days"
            type="number"
            min="1"
            value={days}
            onChange={(value) => onChange({ days: value })}
          />
        )}
      </div>
      {when === "span" && <Dates {...props} />}
    </>
  );
}

interface GoalsReply {
  readonly goals: readonly { readonly slug: string; readonly title: string }[];
}

function GoalChoice({ row: { goal }, onChange }: RowProps) {
  // The shortest range: only the goals' names are needed, not their figures.
  const today = new Date().toISOString().slice(0, 10);
  const { data } = useRead<GoalsReply>("/v1/goals", { from: today, to: today });
  const known = data?.goals ?? [];
  const choices = [
    { value: "", label: data === null ? "…" : "Choose a goal" },
    ...known.map(({ slug, title }) => ({ value: slug, label: title })),
  ];
  return (
    <SelectField
      label="Goal"
      value={goal}
      choices={choices}
      onChange={(value) => onChange({ goal: value })}
    />
  );
}

function Row({ row, number, fault, onChange, onRemove }: RowProps & {
  readonly number: number;
  readonly fault: string | undefined;
  readonly onRemove: () => void;
}) {
  const { kind, isNot } = row;
  return (
    <li class="segment-row">
      <div class="segment-row-head">
        <SelectField
          label={`Condition ${number}`}
          isLabelHidden
          value={isNot ? `not ${kind}` : kind}
          choices={KINDS}
          error={fault}
          onChange={(value) =>
            onChange({
              kind: value.replace("not ", "") as RowKind,
              isNot: value.startsWith("not "),
            })}
        />
        <Button
          icon="close"
          kind="icon"
          aria-label={`Remove condition ${number}`}
          onClick={onRemove}
        />
      </div>
      {kind === "did" && (
        <>
          <MatchEditor value={row.match} onChange={(match) => onChange({ match })} />
          <Times row={row} onChange={onChange} />
        </>
      )}
      {kind === "goal" && <GoalChoice row={row} onChange={onChange} />}
      {kind === "firstSeen"
        ? <Dates row={row} onChange={onChange} />
        : <Time row={row} onChange={onChange} />}
    </li>
  );
}

interface ConditionRowsProps {
  readonly form: SegmentForm;
  readonly faults: SegmentFault;
  readonly onChange: (changes: Partial<SegmentForm>) => void;
}

/** The conditions on people, as a list of rows. */
export function ConditionRows(
  { form: { rows, together, kept }, faults, onChange }: ConditionRowsProps,
) {
  if (kept !== null) {
    return (
      <>
        <p class="muted">
          These were made through the API, one inside another. They stay as they are.
        </p>
        <pre class="segment-kept" tabIndex={0}>{JSON.stringify(kept, null, 2)}</pre>
      </>
    );
  }
  return (
    <>
      {rows.length > 1 && (
        <Segments
          label="People for whom"
          value={together}
          choices={TOGETHER}
          onChange={(value) => onChange({ together: value as SegmentForm["together"] })}
        />
      )}
      <ol class="segment-rows">
        {rows.map((row, i) => (
          <Row
            key={i}
            row={row}
            number={i + 1}
            fault={faults[`row ${i}`]}
            onChange={(changes) => onChange({ rows: rows.with(i, { ...row, ...changes }) })}
            onRemove={() => onChange({ rows: rows.filter((_, j) => j !== i) })}
          />
        ))}
      </ol>
      <Button icon="plus" kind="quiet" onClick={() => onChange({ rows: [...rows, NEW_ROW] })}>
        Condition on people
      </Button>
    </>
  );
}
