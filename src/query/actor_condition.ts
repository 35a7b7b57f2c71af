/** Conditions on people: what they did, when they were first seen, which goal they reached. */
import { z } from "zod";
import { isDeeper } from "../json_text.ts";
import { NAME_LENGTH_MAX } from "../limits.ts";
import { EventName } from "../text_schemas.ts";
import { type EventMatch, MATCH_MEMBERS, pageAsMatch, PageMatch } from "./filters.ts";
import { WITH_ADVICE } from "../schema_mistakes.ts";
import { BOUND_USAGE, boundOf } from "./range.ts";

/** The most conditions that combine no others, since a read has to count for each of them. */
export const CONDITION_LEAVES_MAX = 20;
/** Levels of nesting, the innermost condition included. */
export const CONDITION_LEVELS_MAX = 4;
/** `atLeast` and `atMost`. */
export const CONDITION_TIMES_MAX = 1_000_000;
/** `within` as a number of days: ten years with their leap days. */
export const CONDITION_DAYS_MAX = 3_653;
/** Levels of JSON: more than the deepest condition has, down to the values of its filters. */
const CONDITION_JSON_LEVELS_MAX = 16;

/** Local dates, both inclusive, or instants, `[from, to)`. */
export interface NamedSpan {
  readonly from: string;
  readonly to: string;
}

/** The read's range, a number of local days up to its end (`30d`), or a span. */
export type Within = "range" | `${number}d` | NamedSpan;

/** A condition on actors, as it is saved. */
export type ActorCondition =
  | { readonly all: readonly ActorCondition[] }
  | { readonly any: readonly ActorCondition[] }
  | { readonly not: ActorCondition }
  | {
    readonly did: EventMatch;
    readonly atLeast?: number | undefined;
    readonly atMost?: number | undefined;
    readonly within?: Within | undefined;
  }
  | { readonly firstSeen: NamedSpan }
  | { readonly goal: string; readonly within?: Within | undefined };

const DAYS = /^([1-9]\d{0,3})d$/;

/** Returns the days of a `within` such as `30d`; null for any other. */
export function daysOf(within: Within): number | null {
  const [, days] = typeof within === "string" ? DAYS.exec(within) ?? [] : [];
  return days === undefined ? null : Number(days);
}

const Bound = z.string(BOUND_USAGE).refine((text) => boundOf(text) !== null, BOUND_USAGE);

function spanFault({ from, to }: NamedSpan): string | null {
  const [first, last] = [boundOf(from), boundOf(to)];
  if (first === null || last === null) return null;
  if (first instanceof Date && last instanceof Date) {
    return first < last ? null : "Use a time after `from`.";
  }
  if (first instanceof Date || last instanceof Date) {
    return "Give two local dates, or two instants.";
  }
  return Temporal.PlainDate.compare(first, last) <= 0 ? null : "Use a date not before `from`.";
}

const Span = z.strictObject({ from: Bound, to: Bound }, 'Use {"from","to"}.')
  .superRefine((span, context) => {
    const fault = spanFault(span);
    if (fault !== null) context.addIssue({ code: "custom", message: fault, path: ["to"] });
  })
  .describe("Local dates, both inclusive, or instants, `to` exclusive.");

const WITHIN_USAGE =
  `Use range, days such as 30d (at most ${CONDITION_DAYS_MAX}), or {"from","to"} of two dates or two instants, the later one last.`;
const Within = z.union([
  z.literal("range"),
  z.string().refine((text) => {
    const days = DAYS.exec(text)?.[1];
    return days !== undefined && Number(days) <= CONDITION_DAYS_MAX;
  }, WITHIN_USAGE),
  Span,
], WITHIN_USAGE).describe(
  "range (default): from `from` to `to` of the read; 30d: that many local days up to the read's `to`; or a span.",
);

const times = (min: number) =>
  z.int(`Use a whole number from ${min} to ${CONDITION_TIMES_MAX}.`)
    .min(min, `Use at least ${min}.`)
    .max(CONDITION_TIMES_MAX, `Use at most ${CONDITION_TIMES_MAX}.`);

// A bare name or a page becomes a match before it is parsed, so that errors name their place.
const Match = z.preprocess(
  (value, context) => {
    if (typeof value !== "string") return pageAsMatch(value, context);
    const name = EventName.safeParse(value, WITH_ADVICE);
    if (name.success) return { name: value };
    context.issues.push({
      code: "custom",
      message: name.error.issues[0]!.message,
      input: value,
    });
    return z.NEVER;
  },
  z.strictObject(MATCH_MEMBERS, 'Use an event\'s name, {name, filters}, or {"path"}.').meta({
    id: "ConditionMatch",
    description:
      'Which events count; their name alone may stand for it, and {"path"} for the views of a page. Null: of any name.',
  }),
).meta({ alsoTakes: [EventName, PageMatch] });

const KINDS = ["all", "any", "not", "did", "firstSeen", "goal"] as const;
const KINDS_USAGE = `Give exactly one of ${KINDS.join(", ")}.`;

interface Members extends Readonly<Partial<Record<typeof KINDS[number] | "within", unknown>>> {
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

/** Returns what is wrong with the combination of members, and its path; null: nothing. */
function membersFault(members: Members): [string, string[]] | null {
  const given = KINDS.filter((kind) => members[kind] !== undefined);
  if (given.length !== 1) return [KINDS_USAGE, []];
  const [kind] = given;
  for (const bound of ["atLeast", "atMost"] as const) {
    if (members[bound] !== undefined && kind !== "did") return ["It goes with `did`.", [bound]];
  }
  if (members.within !== undefined && kind !== "did" && kind !== "goal") {
    return ["It goes with `did` and `goal`.", ["within"]];
  }
  const { atLeast, atMost } = members;
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    return ["Use at least as many as `atLeast`.", ["atMost"]];
  }
  return null;
}

const Conditions = z.array(z.lazy(() => Condition), "Use a list of conditions.")
  .min(1, "Give at least one condition.")
  .max(CONDITION_LEAVES_MAX, `Use at most ${CONDITION_LEAVES_MAX} conditions.`);

// One object, not a union of six, so that errors name their place.
const Condition: z.ZodType<ActorCondition> = z.strictObject({
  all: Conditions.optional(),
  any: Conditions.optional(),
  not: z.lazy(() => Condition).optional(),
  did: Match.optional(),
  atLeast: times(1).optional().describe("With `did`. Default: 1, or 0 with `atMost`"),
  atMost: times(0).optional().describe("With `did`: also holds for people who never did it"),
  firstSeen: Span.optional(),
  goal: z.string("Give a goal's slug.").min(1, "Give a goal's slug.")
    .max(NAME_LENGTH_MAX, "Give a goal's slug.").optional()
    .describe("Slug of a saved goal that was reached"),
  within: Within.optional(),
}, "Use a condition.").superRefine((members, context) => {
  const fault = membersFault(members);
  if (fault === null) return;
  context.addIssue({ code: "custom", message: fault[0], path: fault[1] });
}).meta({
  id: "ActorCondition",
  description:
    `A condition on people. ${KINDS_USAGE} At most ${CONDITION_LEAVES_MAX} of them, ${CONDITION_LEVELS_MAX} levels deep.`,
}) as unknown as z.ZodType<ActorCondition>;

/** Returns the conditions that one combines; null: it is a leaf. */
function partsOf(condition: ActorCondition): readonly ActorCondition[] | null {
  if ("all" in condition) return condition.all;
  if ("any" in condition) return condition.any;
  return "not" in condition ? [condition.not] : null;
}

/** A condition that combines no others, and its path in the whole condition. */
interface ConditionLeaf {
  readonly condition: ActorCondition;
  readonly path: readonly (string | number)[];
}

/** Returns the conditions that combine no others, in order. */
export function leavesOf(
  condition: ActorCondition,
  path: readonly (string | number)[] = [],
): ConditionLeaf[] {
  const parts = partsOf(condition);
  if (parts === null) return [{ condition, path }];
  const [kind] = Object.keys(condition);
  return parts.flatMap((part, i) => leavesOf(part, [...path, kind!, ...kind === "not" ? [] : [i]]));
}

function levelsOf(condition: ActorCondition): number {
  return 1 + Math.max(0, ...(partsOf(condition) ?? []).map(levelsOf));
}

const DEEP = `Nest at most ${CONDITION_LEVELS_MAX} levels.`;

/** A condition as the API takes it; null: none. */
export const ActorConditionSchema = z.preprocess(
  (value, context) => {
    // Checked before zod recurses into it.
    if (!isDeeper(value, CONDITION_JSON_LEVELS_MAX)) return value;
    context.issues.push({ code: "custom", message: DEEP, input: value });
    return z.NEVER;
  },
  Condition.nullable().superRefine((condition, context) => {
    if (condition === null) return;
    if (leavesOf(condition).length > CONDITION_LEAVES_MAX) {
      const message = `Use at most ${CONDITION_LEAVES_MAX} conditions that combine no others.`;
      context.addIssue({ code: "custom", message });
    }
    if (levelsOf(condition) > CONDITION_LEVELS_MAX) {
      context.addIssue({ code: "custom", message: DEEP });
    }
  }),
);

const plainSpan = ({ from, to }: NamedSpan): NamedSpan => ({ from, to });

function plainWithin(within: Within | undefined): { within?: Within } {
  if (within === undefined) return {};
  return { within: typeof within === "string" ? within : plainSpan(within) };
}

/** Returns a condition with its members in the order of the API, without undefined ones. */
export function plainCondition(condition: ActorCondition): ActorCondition {
  if ("all" in condition) return { all: condition.all.map(plainCondition) };
  if ("any" in condition) return { any: condition.any.map(plainCondition) };
  if ("not" in condition) return { not: plainCondition(condition.not) };
  if ("firstSeen" in condition) return { firstSeen: plainSpan(condition.firstSeen) };
  if ("goal" in condition) return { goal: condition.goal, ...plainWithin(condition.within) };
  const { did: { name, filters, label }, atLeast, atMost, within } = condition;
  return {
    did: { name, filters, ...label === undefined ? {} : { label } },
    ...atLeast === undefined ? {} : { atLeast },
    ...atMost === undefined ? {} : { atMost },
    ...plainWithin(within),
  };
}
