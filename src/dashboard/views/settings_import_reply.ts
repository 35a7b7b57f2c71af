import type { ImportSummary } from "../../importers/import_summary.ts";
import type { MappingNote, SourceName } from "../../importers/source.ts";

/** What the server says of a file of another product, after a look or after it was stored. */
export interface FileImport extends ImportSummary {
  readonly from: SourceName;
  readonly title: string;
  readonly dryRun: boolean;
  readonly notes: readonly MappingNote[];
}

/** Products whose files are taken. */
export const PRODUCTS = [
  { value: "umami", label: "Umami" },
  { value: "posthog", label: "PostHog" },
  { value: "amplitude", label: "Amplitude" },
  { value: "mixpanel", label: "Mixpanel" },
  { value: "ga4", label: "Google Analytics 4" },
  { value: "matomo", label: "Matomo" },
  { value: "goatcounter", label: "GoatCounter" },
] as const satisfies readonly { readonly value: SourceName; readonly label: string }[];

/** The one that tells times as clocks in its project's zone show them. */
export const ZONED_PRODUCT = "mixpanel";

/** What the server takes of one file. */
export const FILE_BYTES_MAX = 10 * 1024 * 1024;
