import type { EventRow } from "./event_row.ts";

/**
 * The promoted properties of the events named click and scroll, and the column of each. For other events
 * these columns hold something else. If a column cannot hold a value exactly as sent, the value is also kept
 * in the properties, and that copy takes precedence.
 */
export const PROMOTED = {
  x: "pointer_x",
  y: "pointer_y",
  fixed: "fixed",
  rage: "rage",
  dead: "dead",
  selector: "selector",
  viewportWidth: "viewport_width",
  viewportHeight: "viewport_height",
  documentWidth: "document_width",
  documentHeight: "document_height",
  depthPx: "depth_px",
} as const satisfies Readonly<Record<string, keyof EventRow>>;

type PromotedKey = keyof typeof PROMOTED;

export function isPromoted(key: string): key is PromotedKey {
  return Object.hasOwn(PROMOTED, key);
}
