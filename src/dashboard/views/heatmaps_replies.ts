/** What the reads of heatmaps reply, beside `query` and `asOf`. */

import type { output } from "zod";
import type { Capture } from "../../reports/heatmaps/heatmap_capture.ts";
import type { HEATMAP_PATHS_REPLY } from "../../reports/heatmaps/heatmap_paths.ts";
import type { ElementShown, HEATMAP_REPLY } from "../../reports/heatmaps/heatmaps.ts";
import type { ReplyOf } from "../replies.ts";

export const DEVICES = ["desktop", "tablet", "mobile"] as const;
export type Device = typeof DEVICES[number];
export const KINDS = ["click", "rage", "dead", "scroll"] as const;
export type Kind = typeof KINDS[number];

/** The windows of captures, in which pages without one are drawn, too. CSS pixels. */
export const WINDOWS: Readonly<Record<Device, { widthPx: number; heightPx: number }>> = {
  desktop: { widthPx: 1440, heightPx: 900 },
  tablet: { widthPx: 820, heightPx: 1180 },
  mobile: { widthPx: 390, heightPx: 844 },
};

export const DEVICE_LABELS: Readonly<Record<Device, string>> = {
  desktop: "Desktop",
  tablet: "Tablet",
  mobile: "Mobile",
};

export type { Capture };

export type HeatmapReply = ReplyOf<typeof HEATMAP_REPLY>;
/** The clicks of one cell. */
export type Point = HeatmapReply["points"][number];
export type Reach = HeatmapReply["scroll"][number];
/** Something on the page that was clicked. */
export type Element = output<typeof ElementShown>;

export type PathRow = ReplyOf<typeof HEATMAP_PATHS_REPLY>["rows"][number];

/** The device that the address names; else desktop. */
export function readDevice(text: string | null): Device {
  return DEVICES.find((each) => each === text) ?? "desktop";
}

/** The kind that the address names; else all clicks. */
export function readKind(text: string | null): Kind {
  return KINDS.find((each) => each === text) ?? "click";
}
