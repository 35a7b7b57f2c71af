/** Fields whose ids every event has, but few reads ask for. */
export type LazyField = "title" | "referrer";

/** A lazy column: it is on a loaded segment only for reads that ask for it. */
export type LazyColumn =
  | LazyField
  /** The heatmap cells of clicks and scrolls. */
  | "cells"
  /** How deep scrolls went: see scroll_depths.ts. */
  | "depths"
  /** The ids of the events. */
  | "ids"
  /** `isSparse`: by estimate at most a quarter of the events have the property. */
  | { readonly property: string; readonly isSparse?: true };

/** Returns a name that is equal for equal columns. */
export function lazyName(column: LazyColumn): string {
  return typeof column === "string" ? column : `property ${column.property}`;
}
