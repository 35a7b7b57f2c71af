/** The dimensions of acquisition that say where a session came from; below, those of its context. */
export const TRAFFIC_DIMENSIONS = [
  "channel",
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
] as const;
export const CONTEXT_DIMENSIONS = ["country", "region", "city", "browser", "os", "device"] as const;

/** The dimensions of acquisition. */
export const ACQUISITION_DIMENSIONS = [
  ...TRAFFIC_DIMENSIONS,
  "entryPath",
  ...CONTEXT_DIMENSIONS,
] as const;
export type AcquisitionDimension = typeof ACQUISITION_DIMENSIONS[number];

/** The same after `all`, which is not split: the index of each is its number in `acquisition_days`. Append only. */
export const ROLLED_DIMENSIONS = ["all", ...ACQUISITION_DIMENSIONS] as const;
export const WHOLE_DIMENSION = ROLLED_DIMENSIONS.indexOf("all");
