/// <reference lib="dom" />
import { type Choice, SelectField } from "../field.tsx";
import { fieldLabel, isProperty, offeredFields, PROPERTY, splits } from "../filter_fields.ts";
import { Button } from "../button.tsx";
import { CommitField } from "../commit_field.tsx";
import { go } from "../location_state.ts";
import type { EventMatch } from "../match_editor.tsx";
import { Panel } from "../panel.tsx";
import { SHARE_ID } from "../share.ts";
import { usePropertyKeys } from "../suggestions.ts";
import { textOfMatches } from "./trends_match.ts";
import { MatchField } from "./trends_match_field.tsx";
import { EVENTS_MAX, MEASURES, type Question, textOfMeasure } from "./trends_question.ts";

const MEASURE_CHOICES: readonly Choice[] = MEASURES.filter(({ ofProperty }) =>
  SHARE_ID === null || !ofProperty
).map(({ kind, label, ofProperty }) => ({
  value: kind,
  label,
  group: ofProperty ? "Of a property" : "Of the event",
}));
const BY_CHOICES: readonly Choice[] = [
  { value: "", label: "No breakdown" },
  ...offeredFields().filter(({ field }) => splits(field)).map(({ field, label, group }) => ({
    value: field,
    label,
    group,
  })),
  ...SHARE_ID === null ? [{ value: PROPERTY, label: "Property…", group: "Event" }] : [],
].toSorted((a, b) => orderOf(a) - orderOf(b));

/** Choices of one group have to follow each other. */
function orderOf({ group }: Choice): number {
  return [undefined, "Event", "Visit", "People"].indexOf(group);
}

/** Changes the question, whose other lines are shown by default. */
function ask(params: Readonly<Record<string, string | null>>): void {
  go({ params: { lines: null, ...params } });
}

interface PropertyFieldProps {
  readonly label: string;
  readonly value: string;
  /** Whose properties are suggested; null: any event's. */
  readonly event: string | null;
  readonly onChange: (key: string) => void;
}

/** A property's key. */
function PropertyField({ event, ...field }: PropertyFieldProps) {
  const suggestions = usePropertyKeys(event);
  return <CommitField {...field} placeholder="value" maxLength={200} suggestions={suggestions} />;
}

function Events({ events }: Pick<Question, "events">) {
  const put = (next: readonly EventMatch[]) => ask({ event: textOfMatches(next) });
  return (
    <div class="trends-events">
      {events.map((match, i) => (
        <div key={i} class="trends-event">
          <MatchField
            label={events.length === 1 ? "Event" : `Event ${i + 1}`}
            match={match}
            onChange={(next) => put(events.with(i, next))}
          />
          {events.length > 1 && (
            <Button
              icon="close"
              kind="icon"
              aria-label={`Remove event ${i + 1}`}
              onClick={() => put(events.filter((_, j) => j !== i))}
            />
          )}
        </div>
      ))}
    </div>
  );
}

/** The question: which events, what is counted of them, and how that is split. */
export function TrendsForm({ question }: { question: Question }) {
  const { events, measure, property, by } = question;
  const only = events.length === 1 ? events[0]!.name : null;
  const chooseMeasure = (kind: string) =>
    ask({ measure: textOfMeasure(MEASURES.find((each) => each.kind === kind)!, property) });
  return (
    <Panel
      title="Question"
      actions={events.length < EVENTS_MAX && (
        <Button
          icon="plus"
          kind="quiet"
          onClick={() => ask({ event: textOfMatches([...events, { name: null, filters: [] }]) })}
        >
          Another event
        </Button>
      )}
    >
      <div class="trends-question">
        <Events events={events} />
        <div class="trends-choices">
          <SelectField
            label="Measure"
            value={measure.kind}
            choices={MEASURE_CHOICES}
            onChange={chooseMeasure}
          />
          {measure.ofProperty && (
            <PropertyField
              label="Property to compute"
              value={property}
              event={only}
              onChange={(key) => ask({ measure: textOfMeasure(measure, key) })}
            />
          )}
          <SelectField
            label="Break down by"
            value={by !== null && isProperty(by) ? PROPERTY : by ?? ""}
            choices={BY_CHOICES}
            onChange={(field) => ask({ by: field || null })}
          />
          {by !== null && isProperty(by) && (
            <PropertyField
              label="Property to split by"
              value={fieldLabel(by)}
              event={only}
              onChange={(key) => ask({ by: PROPERTY + key })}
            />
          )}
        </div>
      </div>
    </Panel>
  );
}
