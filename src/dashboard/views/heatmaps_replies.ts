/** What the reads of heatmaps reply, beside `query` and `asOf`. */

import type { output } from "zod";
import type { Capture } from "../../reports/heatmaps/heatmap_capture.ts";
import type { ElementShown } from "../../reports/heatmaps/heatmap_elements.ts";
export const DEVICES = ["desktop", "tablet", "mobile"] as const;
export type Device = typeof DEVICES[number];
export const KINDS = ["click", "rage", "dead", "scroll"] as const;
export type Kind = typeof KINDS[number];

/** The windows that pages are photographed in, and drawn in where there is no picture. CSS pixels. */
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

/** The clicks of one cell: `x` is a fraction of the width, `y` in CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
  /** Its target keeps its place in the window, which `y` then counts in. */
  readonly fixed: boolean;
  readonly count: number;
  readonly visitors: number;
}

export interface Reach {
  readonly depthPx: number;
  /** Page views that were seen down to here. */
  readonly reached: number;
}

/** Something on the page that was clicked. */
export type Element = output<typeof ElementShown>;

export interface HeatmapReply {
  readonly capture: Capture;
  readonly points: readonly Point[];
  readonly scroll: readonly Reach[];
  /** Only where they were asked for. */
  readonly elements?: readonly Element[];
  /** Null: a share tells of no so few visitors. */
  readonly sample: { readonly visitors: number; readonly clicks: number } | null;
}

export interface PathRow {
  readonly path: string;
  readonly visitors: number;
  readonly clicks: number;
  readonly devices: Readonly<Record<Device, { readonly status: string }>>;
}

/** The device that the address names; desktop where it names none. */
export function readDevice(text: string | null): Device {
  return DEVICES.find((each) => each === text) ?? "desktop";
}

/** The kind that the address names; all clicks where it names none. */
export function readKind(text: string | null): Kind {
  return KINDS.find((each) => each === text) ?? "click";
}
