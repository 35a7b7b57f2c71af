/** Fields of which every event has an id, and few reads ask. */
export type LazyField = "title" | "referrer";

/** A column that few reads ask for: what a visit finds on its segment beside the columns of all reads. */
export type LazyColumn =
  | { readonly field: LazyField }
  /** `isSparse`: at most a quarter of the events have it, as far as anybody can tell. */
  | { readonly property: string; readonly isSparse?: true }
  /** The heatmap cells of clicks and scrolls. */
  | { readonly cells: true }
  /** How deep scrolls went: see scroll_depths.ts. */
  | { readonly depths: true }
  /** The ids of the events. */
  | { readonly ids: true };

/** The same for columns that are the same. */
export function lazyName(column: LazyColumn): string {
  if ("field" in column) return column.field;
  if ("property" in column) return `property ${column.property}`;
  if ("depths" in column) return "depths";
  return "cells" in column ? "cells" : "ids";
}
