/** What the server says of a file of another product, after a look or after it was stored. */
export interface FileImport {
  readonly from: string;
  readonly title: string;
  readonly dryRun: boolean;
  readonly events: number;
  /** Of these, how many were stored before. */
  readonly known: number;
  readonly refused: number;
  readonly reasons: readonly Counted[];
  readonly refusals: readonly Refusal[];
  readonly leftOut: readonly Counted[];
  readonly names: readonly Counted[];
  readonly days: { readonly first: string; readonly last: string } | null;
  readonly sample: readonly Readonly<Record<string, unknown>>[];
  readonly notes: readonly Note[];
}

export interface Counted {
  readonly what: string;
  readonly count: number;
}

export interface Refusal {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

export interface Note {
  readonly theirs: string;
  readonly ours: string | null;
  readonly how: string | null;
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
] as const;

/** The one that tells times as clocks in its project's zone show them. */
export const ZONED_PRODUCT = "mixpanel";

/** What the server takes of one file. */
export const FILE_BYTES_MAX = 10 * 1024 * 1024;
