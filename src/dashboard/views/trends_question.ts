import { PROPERTY } from "../filter_fields.ts";
import { comparedParams, type Params, viewParam } from "../location_state.ts";
import { type EventMatch, matchBody } from "../match_editor.tsx";
import { readMatches, textOfMatch } from "./trends_match.ts";

export interface Measure {
  readonly kind: string;
  readonly label: string;
  readonly definition: string;
  /** Computed from the numbers of a property. */
  readonly ofProperty: boolean;
}

export const MEASURES: readonly Measure[] = [
  {
    kind: "total",
    label: "Event count",
    definition: "The number of events.",
    ofProperty: false,
  },
  {
    kind: "visitors",
    label: "Visitors",
    definition: "Different people who did it. Someone who did it in two periods counts in both.",
    ofProperty: false,
  },
  {
    kind: "perVisitor",
    label: "Events per visitor",
    definition: "The number of events, divided by the people who did them.",
    ofProperty: false,
  },
  {
    kind: "sum",
    label: "Sum of a property",
    definition: "All numbers of the property, added up. Events without a number are passed over.",
    ofProperty: true,
  },
  {
    kind: "avg",
    label: "Average of a property",
    definition: "The mean of the property's numbers. Events without a number are passed over.",
    ofProperty: true,
  },
  {
    kind: "p50",
    label: "Median of a property",
    definition: "Half of the property's numbers lie above this one, half below.",
    ofProperty: true,
  },
  {
    kind: "p90",
    label: "90th percentile of a property",
    definition: "Nine of ten of the property's numbers lie below this one.",
    ofProperty: true,
  },
  {
    kind: "min",
    label: "Smallest of a property",
    definition: "The smallest of the property's numbers.",
    ofProperty: true,
  },
  {
    kind: "max",
    label: "Largest of a property",
    definition: "The largest of the property's numbers.",
    ofProperty: true,
  },
];

export const EVENTS_MAX = 10;

/** The question to trends, as the address has it. */
export interface Question {
  readonly events: readonly EventMatch[];
  readonly measure: Measure;
  /** The property to compute from; empty: not chosen yet, or none needed. */
  readonly property: string;
  /** A filter field; null: not split. Of `properties.` the property is not chosen yet. */
  readonly by: string | null;
}

/** The measure that `kind` or `kind:property` names; else the first one. */
export function measureOf(text: string): Measure {
  const kind = text.split(":")[0];
  return MEASURES.find((each) => each.kind === kind) ?? MEASURES[0]!;
}

/** What the address asks, with defaults for what it leaves out. */
export function readQuestion(): Question {
  const written = viewParam("measure") ?? "";
  const measure = measureOf(written);
  const field = written.slice(measure.kind.length + 1);
  return {
    events: readMatches(viewParam("event")),
    measure,
    property: measure.ofProperty && field.startsWith(PROPERTY) ? field.slice(PROPERTY.length) : "",
    by: viewParam("by") || null,
  };
}

/** The measure as addresses and the API write it; null: the default. */
export function textOfMeasure({ kind, ofProperty }: Measure, property: string): string | null {
  if (ofProperty) return `${kind}:${PROPERTY}${property}`;
  return kind === MEASURES[0]!.kind ? null : kind;
}

/** What is still to be chosen before there is anything to read; null: nothing. */
export function missingChoice({ measure, property, by }: Question): string | null {
  if (measure.ofProperty && property === "") return "Choose the property to compute.";
  return by === PROPERTY ? "Choose the property to split by." : null;
}

/** Several events are labelled by their places, so that two of one name stay distinct. */
function eventParam(events: readonly EventMatch[]): string | null {
  if (events.length === 1) return textOfMatch(matchBody(events[0]!));
  return JSON.stringify(
    events.map((each, i) => {
      const { name, filters } = matchBody(each);
      return { name, filters, label: String(i) };
    }),
  );
}

/** The question as parameters of `GET /v1/trends`. */
export function trendsParams({ events, measure, property, by }: Question): Params {
  return {
    ...comparedParams(),
    event: eventParam(events),
    measure: textOfMeasure(measure, property),
    by,
  };
}
