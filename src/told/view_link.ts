import type { Filter } from "../query/filters.ts";

/** Where the dashboard shows what a message tells. Dates are local and inclusive. */
export interface ViewAsked {
  readonly view: "overview" | "insights" | "goals" | "events";
  readonly project: string;
  readonly from: string;
  readonly to: string;
  /** Null: the project's. */
  readonly timezone: string | null;
  readonly filters: readonly Filter[];
}

/** A link to a view. `address`: where the dashboard stands, without a slash at the end. */
export function viewLink(address: string, asked: ViewAsked): string {
  const { view, project, from, to, timezone, filters } = asked;
  const query = new URLSearchParams({ project });
  if (view !== "overview") query.set("view", view);
  query.set("from", from);
  query.set("to", to);
  if (timezone !== null) query.set("timezone", timezone);
  if (filters.length > 0) query.set("filters", JSON.stringify(filters));
  return `${address}/?${query}`;
}
