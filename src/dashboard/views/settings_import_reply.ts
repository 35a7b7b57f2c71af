import type { ImportSummary } from "../../importers/import_summary.ts";
import type { MappingNote, SourceName } from "../../importers/source.ts";

/** The reply to a dry run or an import of another product's file. */
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

/** The product that exports times of its project's own zone. */
export const ZONED_PRODUCT = "mixpanel";

/** The largest file that the server takes. */
export const FILE_BYTES_MAX = 10 * 1024 * 1024;
