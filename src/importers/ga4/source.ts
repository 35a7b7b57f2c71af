import { jsonFiles } from "../file_rows.ts";
import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";

export const GA4: ImportSource = {
  name: "ga4",
  title: "Google Analytics 4",
  takes: "its BigQuery tables `events_…`, extracted as newline-delimited JSON, gzipped or plain",
  shape: "the schema of the BigQuery export, as Google's manual describes it in 2026",
  notes: NOTES,
  rows: jsonFiles(),
  recognises: (row) => "event_name" in row && "event_timestamp" in row,
  map,
};
