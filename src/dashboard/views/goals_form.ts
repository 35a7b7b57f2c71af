import { isWhole } from "../filter_editor.tsx";
import { type EventMatch, matchBody } from "../match_editor.tsx";
import { typedNumber } from "../typed_number.ts";
import type { Goal, GoalValue } from "./goals_reading.ts";
import { freeSlugOf, slugFault } from "./goals_slug.ts";

export type ValueKind = "none" | "fixed" | "property";

/** A goal as it is typed. */
export interface GoalForm {
  readonly title: string;
  /** Null: derived from the title. */
  readonly slug: string | null;
  readonly match: EventMatch;
  readonly kind: ValueKind;
  readonly amount: string;
  readonly property: string;
  readonly currency: string;
}

export type GoalFault = Partial<
  Record<"title" | "slug" | "match" | "amount" | "property" | "currency", string>
>;

/** A goal as the API takes it. */
export interface GoalBody {
  readonly title: string;
  readonly match: EventMatch;
  readonly value: GoalValue | null;
}

const CURRENCY_DEFAULT = "EUR";
const AMOUNT_MAX = 1_000_000_000_000;

/** An empty form, or one that begins with a match. */
export function newForm(title = "", match: EventMatch = { name: null, filters: [] }): GoalForm {
  return {
    title,
    slug: null,
    match,
    kind: "none",
    amount: "",
    property: "",
    currency: CURRENCY_DEFAULT,
  };
}

/** The form of a saved goal. */
export function formOf({ slug, title, match, valueDefinition: value }: Goal): GoalForm {
  const form = { ...newForm(title, match), slug };
  if (value === null) return form;
  const { currency } = value;
  return "fixed" in value
    ? { ...form, kind: "fixed", amount: String(value.fixed), currency }
    : { ...form, kind: "property", property: value.property, currency };
}

/** The goal's slug: the typed one, else a free one derived from the title. */
export function slugOfForm({ slug, title }: GoalForm, taken: readonly string[]): string {
  return slug ?? freeSlugOf(title, "goal", taken);
}

function valueFaults({ kind, amount, property, currency }: GoalForm): GoalFault {
  if (kind === "none") return {};
  const number = typedNumber(amount);
  const faults: GoalFault = {};
  if (!/^[A-Z]{3}$/.test(currency)) faults.currency = "Use three capital letters such as EUR.";
  if (kind === "fixed" && number === null) faults.amount = "Use a number such as 25 or 9.50.";
  if (kind === "fixed" && number !== null && Math.abs(number) > AMOUNT_MAX) {
    faults.amount = "This is too much.";
  }
  if (kind === "property" && property.trim() === "") faults.property = "Name the property.";
  return faults;
}

/** What is wrong with the form. `taken` are the slugs of the other goals. */
export function faultsOf(form: GoalForm, taken: readonly string[]): GoalFault {
  const slug = slugOfForm(form, taken);
  const faults = valueFaults(form);
  if (form.title.trim() === "") faults.title = "Give the goal a title.";
  if (slugFault(slug) !== null) faults.slug = slugFault(slug)!;
  else if (taken.includes(slug)) faults.slug = "Another goal has this name.";
  if (!form.match.name) faults.match = "Choose the event that counts.";
  else if (form.match.filters.some((filter) => !isWhole(filter))) {
    faults.match = "A condition has no value yet. Fill it in, or take it away.";
  }
  return faults;
}

/** The body of a form without faults. */
export function bodyOf({ title, match, kind, amount, property, currency }: GoalForm): GoalBody {
  const { name, filters } = matchBody(match);
  const value = kind === "none"
    ? null
    : kind === "fixed"
    ? { fixed: typedNumber(amount)!, currency }
    : { property: property.trim(), currency };
  return { title: title.trim(), match: { name, filters }, value };
}
