/** Fields of where a session came from, and of what it was made with, that acquisition is split by. */
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

/** What acquisition can be split by. */
export const ACQUISITION_DIMENSIONS = [
  ...TRAFFIC_DIMENSIONS,
  "entryPath",
  ...CONTEXT_DIMENSIONS,
] as const;
export type AcquisitionDimension = typeof ACQUISITION_DIMENSIONS[number];

/** The same behind the unsplit whole: the place of each is its number in `acquisition_days`. Append only. */
export const ROLLED_DIMENSIONS = ["all", ...ACQUISITION_DIMENSIONS] as const;
export const WHOLE_DIMENSION = ROLLED_DIMENSIONS.indexOf("all");
