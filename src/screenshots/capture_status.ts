/** The classes of window widths in which pages are captured, widest first. */
export const CAPTURE_DEVICES = ["desktop", "tablet", "mobile"] as const;
export type CaptureDevice = typeof CAPTURE_DEVICES[number];

/** The outcomes of attempts to capture a page. */
export const CAPTURE_STATUSES = [
  "captured",
  "site_url_missing",
  "site_url_mismatch",
  "not_publicly_reachable",
  "page_not_found",
  "not_a_page",
  "redirect_loop",
  "blocked_address",
  "no_browser",
  "temporary_failure",
  "render_failed",
  "pending",
] as const;
export type CaptureStatus = typeof CAPTURE_STATUSES[number];

/** The outcome of an attempt. */
export interface Verdict {
  readonly status: CaptureStatus;
  /** A sentence for people, without addresses that visitors do not know. */
  readonly message: string;
  /** Whether the same attempt may succeed in a minute. */
  readonly retry: boolean;
}

/** Makes a verdict that stays the same until the page, the site or the settings change. */
export function verdict(status: CaptureStatus, message: string): Verdict {
  return { status, message, retry: false };
}

/** The verdict without a site URL, which is needed to find pages; earlier captures are still shown. */
export const SITE_URL_MISSING = verdict(
  "site_url_missing",
  "The project has no site URL. Set it, then its pages can be found.",
);

/** Makes the verdict of a failure that may be over in a minute. */
export function transient(message: string): Verdict {
  return { status: "temporary_failure", message, retry: true };
}
