/// <reference lib="dom" />
import { Definition } from "../definition.tsx";
import { type Choice, Field, Segments } from "../field.tsx";
import { currentDates, go, viewParam } from "../location_state.ts";
import { Panel } from "../panel.tsx";
import { useTypedText } from "../typed_text.ts";
import {
  automaticEvery,
  type Every,
  PERIODS_MAX,
  type Question,
  readPeriods,
} from "./retention_question.ts";
import { textOfMatch } from "./trends_match.ts";
import { MatchField } from "./trends_match_field.tsx";

const COHORTS: readonly Choice[] = [
  { value: "first", label: "First time ever" },
  { value: "recurring", label: "Every time" },
];
const criteria = (every: Every): readonly Choice[] => [
  { value: "on", label: every === "day" ? "On that day" : `In that ${every}` },
  { value: "on_or_after", label: "Then or later" },
];
const EVERY: readonly Choice[] = [
  { value: "day", label: "Day" },
  { value: "week", label: "Week" },
  { value: "month", label: "Month" },
];

const TEXTS = {
  cohort:
    "First time ever: people are counted once, in the period in which they did the start event for the very first time. Every time: people are counted in each period in which they did it.",
  criterion:
    "Either someone counts in each period in which they came back, or in all periods up to the last one in which they came back.",
  every: "How long a period is. Weeks begin on Monday. The range is widened to whole periods.",
};

interface ChoiceRowProps {
  readonly label: string;
  readonly text: string;
  readonly param: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  /** The value that the address leaves out. */
  readonly fallback: string;
}

function ChoiceRow({ label, text, param, value, choices, fallback }: ChoiceRowProps) {
  return (
    <div class="retention-choice">
      <span class="retention-choice-label">
        {label} <Definition of={label} text={text} />
      </span>
      <Segments
        label={label}
        value={value}
        choices={choices}
        onChange={(chosen) => go({ params: { [param]: chosen === fallback ? null : chosen } })}
      />
    </div>
  );
}

/** How many cells a cohort has. Takes effect when the field is left, not at every digit. */
function PeriodsField({ periods }: { periods: number }) {
  const [draft, setDraft] = useTypedText(String(periods), viewParam("periods"));
  const isBad = draft !== "" && readPeriods(draft) === null;
  const apply = () => {
    if (draft === "") {
      setDraft(String(periods));
      go({ params: { periods: null } });
    } else if (!isBad && Number(draft) !== periods) {
      go({ params: { periods: draft } });
    }
  };
  return (
    <div class="retention-periods" onChange={apply}>
      <Field label="Periods" error={isBad ? `From 1 to ${PERIODS_MAX}` : null}>
        {(control) => (
          <input
            {...control}
            class="input"
            type="number"
            min="1"
            max={PERIODS_MAX}
            step="1"
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
        )}
      </Field>
    </div>
  );
}

/** The question: who starts, what is a return, and how periods are cut. */
export function RetentionControls({ question }: { question: Question }) {
  const { start, back, cohort, criterion, every, periods } = question;
  return (
    <Panel title="Question">
      <div class="stack-wide">
        <div class="field-pair">
          <MatchField
            label="People who did"
            match={start}
            onChange={(match) => go({ params: { start: textOfMatch(match) } })}
          />
          <MatchField
            label="And came back to do"
            match={back}
            onChange={(match) => go({ params: { return: textOfMatch(match) } })}
          />
        </div>
        <div class="retention-choices">
          <ChoiceRow
            label="Counted"
            text={TEXTS.cohort}
            param="cohort"
            value={cohort}
            choices={COHORTS}
            fallback="first"
          />
          <ChoiceRow
            label="Came back"
            text={TEXTS.criterion}
            param="criterion"
            value={criterion}
            choices={criteria(every)}
            fallback="on"
          />
          <ChoiceRow
            label="Period"
            text={TEXTS.every}
            param="every"
            value={every}
            choices={EVERY}
            fallback={automaticEvery(currentDates())}
          />
          <PeriodsField periods={periods} />
        </div>
      </div>
    </Panel>
  );
}
