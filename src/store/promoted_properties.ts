import type { EventRow } from "./event_row.ts";

/**
 * Properties of the events named click and scroll that stand in columns of their own. Of every other
 * event these columns hold something else. What a column does not hold exactly as it was sent stands
 * in the properties too, and is what counts.
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
