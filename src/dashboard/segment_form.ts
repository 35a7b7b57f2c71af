import { isWhole } from "./filter_editor.tsx";
import type { Filter } from "./location_query.ts";
import { type EventMatch, matchBody } from "./match_editor.tsx";
import type { ActorCondition, SavedSegment } from "./segments.ts";
import { freeSlugOf } from "./views/goals_slug.ts";

export type RowKind = "did" | "goal" | "firstSeen";
export type Often = "atLeast" | "atMost" | "exactly";
export type When = "range" | "days" | "span";

/** A condition on people as typed. Members of other kinds are kept for a change of kind, but not sent. */
export interface ConditionRow {
  readonly kind: RowKind;
  readonly isNot: boolean;
  readonly match: EventMatch;
  readonly often: Often;
  readonly times: string;
  readonly goal: string;
  readonly when: When;
  readonly days: string;
  /** Local dates. */
  readonly from: string;
  readonly to: string;
}

/** A segment as typed. */
export interface SegmentForm {
  readonly title: string;
  readonly filters: readonly Filter[];
  /** Whether all rows must hold, or any. */
  readonly together: "all" | "any";
  readonly rows: readonly ConditionRow[];
  /** A condition that rows cannot show, and which stays as it is; null: there is none. */
  readonly kept: ActorCondition | null;
}

export type SegmentFault = Partial<Record<"title" | "filters" | `row ${number}`, string>>;

export const NEW_ROW: ConditionRow = {
  kind: "did",
  isNot: false,
  match: { name: null, filters: [] },
  often: "atLeast",
  times: "1",
  goal: "",
  when: "range",
  days: "30",
  from: "",
  to: "",
};

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAYS = /^([1-9]\d{0,3})d$/;

type Within = Extract<ActorCondition, { readonly goal: string }>["within"];

/** A row's members for when something was done; null: a row cannot show it, as with instants. */
function whenOf(within: Within): Pick<ConditionRow, "when" | "days" | "from" | "to"> | null {
  const { days, from, to } = NEW_ROW;
  if (within === undefined || within === "range") return { when: "range", days, from, to };
  if (typeof within === "string") return { when: "days", days: DAYS.exec(within)![1]!, from, to };
  return DATE.test(within.from) ? { when: "span", days, from: within.from, to: within.to } : null;
}

function oftenOf(
  atLeast: number | undefined,
  atMost: number | undefined,
): Pick<ConditionRow, "often" | "times"> | null {
  if (atMost === undefined) return { often: "atLeast", times: String(atLeast ?? 1) };
  if (atLeast === undefined) return { often: "atMost", times: String(atMost) };
  return atLeast === atMost ? { often: "exactly", times: String(atMost) } : null;
}

/** A condition as a row; null: a row cannot show it, such as a combination of others. */
function rowOf(condition: ActorCondition, isNot = false): ConditionRow | null {
  if ("not" in condition) return isNot ? null : rowOf(condition.not, true);
  if ("firstSeen" in condition) {
    const { from, to } = condition.firstSeen;
    return DATE.test(from) ? { ...NEW_ROW, kind: "firstSeen", isNot, from, to } : null;
  }
  if ("goal" in condition) {
    const when = whenOf(condition.within);
    return when && { ...NEW_ROW, ...when, kind: "goal", isNot, goal: condition.goal };
  }
  if (!("did" in condition)) return null;
  const { did: { name, filters }, atLeast, atMost, within } = condition;
  const [often, when] = [oftenOf(atLeast, atMost), whenOf(within)];
  return often && when && { ...NEW_ROW, ...often, ...when, isNot, match: { name, filters } };
}

/** The form of a saved segment, or of a new one with these filters. */
export function formOf(saved: SavedSegment | null, filters: readonly Filter[]): SegmentForm {
  const plain: SegmentForm = { title: "", filters, together: "all", rows: [], kept: null };
  if (saved === null) return plain;
  const { title, actors } = saved;
  const form = { ...plain, title, filters: saved.filters };
  if (actors === null) return form;
  const together = "any" in actors ? "any" : "all";
  const parts = "any" in actors ? actors.any : "all" in actors ? actors.all : [actors];
  const rows = parts.map((part) => rowOf(part));
  return rows.every((row) => row !== null)
    ? { ...form, together, rows }
    : { ...form, kept: actors };
}

const isCount = (text: string, min: number, max: number): boolean =>
  /^\d{1,7}$/.test(text) && Number(text) >= min && Number(text) <= max;

const TIMES_MAX = 1_000_000;
const DAYS_MAX = 3_653;

/** What is wrong with a row; null: nothing. */
function rowFault(row: ConditionRow): string | null {
  const { kind, match, often, times, goal, when, days, from, to } = row;
  if (kind === "did" && match.filters.some((filter) => !isWhole(filter))) {
    return "A condition has no value yet. Fill it in, or take it away.";
  }
  if (kind === "did" && !isCount(times, often === "atLeast" ? 1 : 0, TIMES_MAX)) {
    return "Say how often, in a whole number.";
  }
  if (kind === "goal" && goal === "") return "Choose a goal.";
  if (kind !== "firstSeen" && when === "days" && !isCount(days, 1, DAYS_MAX)) {
    return `Use 1 to ${DAYS_MAX} days.`;
  }
  const isSpan = kind === "firstSeen" || when === "span";
  if (isSpan && !(DATE.test(from) && DATE.test(to) && from <= to)) {
    return "Give two dates, the later one last.";
  }
  return null;
}

/** What is wrong with the form. */
export function faultsOf({ title, filters, rows }: SegmentForm): SegmentFault {
  const faults: SegmentFault = {};
  if (title.trim() === "") faults.title = "Give the segment a title.";
  if (filters.some((filter) => !isWhole(filter))) {
    faults.filters = "A condition has no value yet. Fill it in, or take it away.";
  }
  for (const [i, row] of rows.entries()) {
    const fault = rowFault(row);
    if (fault !== null) faults[`row ${i}`] = fault;
  }
  return faults;
}

function withinOf({ when, days, from, to }: ConditionRow): { within?: Within } {
  if (when === "range") return {};
  return { within: when === "days" ? `${Number(days)}d` : { from, to } };
}

function timesOf({ often, times }: ConditionRow): { atLeast?: number; atMost?: number } {
  const count = Number(times);
  if (often === "atMost") return { atMost: count };
  if (often === "exactly") return count === 0 ? { atMost: 0 } : { atLeast: count, atMost: count };
  return count === 1 ? {} : { atLeast: count };
}

function leafOf(row: ConditionRow): ActorCondition {
  const { kind, match, goal, from, to } = row;
  if (kind === "firstSeen") return { firstSeen: { from, to } };
  if (kind === "goal") return { goal, ...withinOf(row) };
  const { name, filters } = matchBody(match);
  return {
    did: { name, filters } as Extract<ActorCondition, { readonly did: unknown }>["did"],
    ...timesOf(row),
    ...withinOf(row),
  };
}

/** The body for the API, of a form without faults. */
export function bodyOf({ title, filters, together, rows, kept }: SegmentForm) {
  const parts = rows.map((row): ActorCondition => {
    const leaf = leafOf(row);
    return row.isNot ? { not: leaf } : leaf;
  });
  const combined = together === "all" ? { all: parts } : { any: parts };
  const actors = kept ?? (parts.length === 0 ? null : parts.length === 1 ? parts[0]! : combined);
  return { title: title.trim(), filters, actors };
}

/** The new segment's slug. */
export function slugOfForm({ title }: SegmentForm, taken: readonly string[]): string {
  return freeSlugOf(title, "segment", taken);
}
