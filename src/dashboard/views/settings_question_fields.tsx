/// <reference lib="dom" />
import type { FunctionComponent } from "preact";
import { SelectField, TextField } from "../field.tsx";
import { fieldsOf, type FormPart } from "../form.tsx";
import { MatchEditor } from "../match_editor.tsx";
import { useRead } from "../resource.ts";
import { useSegments } from "../segment_control.tsx";
import { usePropertyKeys } from "../suggestions.ts";
import { FilterFields } from "./settings_filter_fields.tsx";
import type { Counting, QuestionForm } from "./settings_question_form.ts";
import { METRIC_CHOICES } from "./settings_notification_replies.ts";
import { measureOf, MEASURES } from "./trends_question.ts";
import { VITALS } from "./vitals_words.ts";

const COUNTINGS = [
  { value: "metric", label: "A figure" },
  { value: "goal", label: "A goal" },
  { value: "match", label: "Events" },
  { value: "funnel", label: "A funnel" },
  { value: "vital", label: "A web vital" },
];
const GOAL_MEASURES = [
  { value: "conversions", label: "People who reached it" },
  { value: "total", label: "All conversions" },
  { value: "rate", label: "Conversion rate (0 to 1)" },
  { value: "amount", label: "Value" },
];
const FUNNEL_MEASURES = [
  { value: "rate", label: "Conversion rate (0 to 1)" },
  { value: "converted", label: "People who converted" },
  { value: "entered", label: "People who entered" },
];
const VITAL_MEASURES = [
  { value: "p75", label: "75th percentile (ms; of CLS a score)" },
  { value: "good", label: "Share of good page views (0 to 1)" },
  { value: "poor", label: "Share of poor page views (0 to 1)" },
];
const MATCH_MEASURES = MEASURES.map(({ kind, label }) => ({ value: kind, label }));
const VITAL_CHOICES = VITALS.map(({ name, title }) => ({ value: name, label: title }));

interface SegmentFieldProps {
  /** Empty: everybody. */
  readonly value: string;
  readonly error?: string | null | undefined;
  readonly onChange: (slug: string) => void;
}

/** Everybody, or the people of a saved segment. */
export function SegmentField({ value, error, onChange }: SegmentFieldProps) {
  const segments = useSegments();
  const isGone = value !== "" && !segments.some(({ slug }) => slug === value);
  const choices = [
    { value: "", label: "Everybody" },
    ...segments.map(({ slug, title }) => ({ value: slug, label: title })),
    ...isGone ? [{ value, label: value }] : [],
  ];
  return <SelectField label="Segment" {...{ value, error, choices, onChange }} />;
}

interface Named {
  readonly slug: string;
  readonly title: string;
}

interface SavedFieldProps {
  readonly label: string;
  readonly none: string;
  readonly saved: readonly Named[];
  readonly value: string;
  readonly onChange: (slug: string) => void;
}

/** A choice among what is saved. */
function SavedField({ label, none, saved, value, onChange }: SavedFieldProps) {
  const choices = [
    { value: "", label: none },
    ...saved.map(({ slug, title }) => ({ value: slug, label: title })),
  ];
  return <SelectField {...{ label, value, choices, onChange }} />;
}

type PartProps = FormPart<QuestionForm>;

function GoalFields(props: PartProps) {
  const field = fieldsOf(props);
  const goals = useRead<{ readonly goals: readonly Named[] }>("/v1/goals").data?.goals ?? [];
  return (
    <div class="field-pair">
      <SavedField
        label="Goal"
        none="Choose a goal"
        saved={goals}
        {...field("goal")}
      />
      <SelectField
        label="Counted"
        {...field("goalMeasure")}
        choices={GOAL_MEASURES}
      />
    </div>
  );
}

function FunnelFields(props: PartProps) {
  const field = fieldsOf(props);
  const list = useRead<{ readonly funnels: readonly Named[] }>("/v1/funnels");
  return (
    <div class="field-pair">
      <SavedField
        label="Funnel"
        none="Choose a funnel"
        saved={list.data?.funnels ?? []}
        {...field("funnel")}
      />
      <SelectField
        label="Counted"
        {...field("funnelMeasure")}
        choices={FUNNEL_MEASURES}
      />
    </div>
  );
}

function VitalFields(props: PartProps) {
  const field = fieldsOf(props);
  return (
    <div class="field-pair">
      <SelectField
        label="Vital"
        {...field("vital")}
        choices={VITAL_CHOICES}
      />
      <SelectField
        label="Counted"
        {...field("vitalMeasure")}
        choices={VITAL_MEASURES}
      />
    </div>
  );
}

function MatchFields(props: PartProps) {
  const { form, put } = props;
  const field = fieldsOf(props);
  const keys = usePropertyKeys(form.match.name);
  return (
    <>
      <MatchEditor value={form.match} onChange={(match) => put({ match })} />
      <SelectField
        label="Counted"
        {...field("matchMeasure")}
        choices={MATCH_MEASURES}
      />
      {measureOf(form.matchMeasure).ofProperty && (
        <TextField
          label="Property to compute"
          {...field("property")}
          placeholder="value"
          maxLength={200}
          suggestions={keys}
        />
      )}
    </>
  );
}

const SOURCES: Readonly<Record<Counting, FunctionComponent<PartProps>>> = {
  metric: (props) => (
    <SelectField
      label="Figure"
      {...fieldsOf(props)("metric")}
      choices={METRIC_CHOICES}
    />
  ),
  goal: GoalFields,
  match: MatchFields,
  funnel: FunnelFields,
  vital: VitalFields,
};

/** What is counted, of whom. `member`: its place in the request. */
export function QuestionFields({ member, ...part }: PartProps & { readonly member: string }) {
  const { form, problem, put } = part;
  const fault = problem?.messageFor(member);
  const Source = SOURCES[form.counting];
  return (
    <>
      <SelectField
        label="What is counted"
        value={form.counting}
        choices={COUNTINGS}
        onChange={(counting) => put({ counting: counting as Counting })}
      />
      <Source {...part} />
      {/* Events have conditions of their own; others that were given before stay visible while they apply. */}
      {(form.counting !== "match" || form.filters.length > 0) && (
        <FilterFields
          filters={form.filters}
          error={null}
          onChange={(filters) => put({ filters })}
        />
      )}
      <SegmentField value={form.segment} onChange={(segment) => put({ segment })} />
      {fault && <p class="field-error" role="alert">{fault}</p>}
    </>
  );
}
