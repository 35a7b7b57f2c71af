import { jsonFiles } from "../file_rows.ts";
import { VISIT_BYTES_MAX } from "../importer_limits.ts";
import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";

export const MATOMO: ImportSource = {
  name: "matomo",
  title: "Matomo",
  takes: "replies of `Live.getLastVisitsDetails` as JSON, one or many in a file",
  shape: "Matomo 4 and 5: `plugins/*/VisitorDetails.php`",
  notes: NOTES,
  rows: jsonFiles(VISIT_BYTES_MAX),
  recognises: (row) => "idVisit" in row && "actionDetails" in row,
  map,
};
