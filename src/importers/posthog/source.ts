import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";
import { rows } from "./rows.ts";

export const POSTHOG: ImportSource = {
  name: "posthog",
  title: "PostHog",
  takes:
    "files of a batch export of the model *events*: JSON lines (gzip, zstd or plain) or Parquet",
  shape: "PostHog's batch exports as of 2026: the model `events` in their manual for S3",
  notes: NOTES,
  rows,
  recognises: (row) => "event" in row && "distinct_id" in row && "properties" in row,
  map,
};
