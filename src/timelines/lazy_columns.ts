/** Fields whose ids every event has, but few reads ask for. */
export type LazyField = "title" | "referrer";

/** A lazy column: it is on a loaded segment only for reads that ask for it. */
export type LazyColumn =
  | { readonly field: LazyField }
  /** `isSparse`: by estimate at most a quarter of the events have the property. */
  | { readonly property: string; readonly isSparse?: true }
  /** The heatmap cells of clicks and scrolls. */
  | { readonly cells: true }
  /** How deep scrolls went: see scroll_depths.ts. */
  | { readonly depths: true }
  /** The ids of the events. */
  | { readonly ids: true };

/** Returns a name that is equal for equal columns. */
export function lazyName(column: LazyColumn): string {
  if ("field" in column) return column.field;
  if ("property" in column) return `property ${column.property}`;
  if ("depths" in column) return "depths";
  return "cells" in column ? "cells" : "ids";
}
