/** Classes of window widths that a page is looked at in, widest first. */
export const CAPTURE_DEVICES = ["desktop", "tablet", "mobile"] as const;
export type CaptureDevice = typeof CAPTURE_DEVICES[number];

/** What may become of an attempt to photograph a page. */
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

/** What an attempt came to. */
export interface Verdict {
  readonly status: CaptureStatus;
  /** A sentence for people; it names no address that visitors do not know. */
  readonly message: string;
  /** Whether the same attempt may well go better in a minute. */
  readonly retry: boolean;
}

/** A verdict that stands until the page, the site or the settings change. */
export function verdict(status: CaptureStatus, message: string): Verdict {
  return { status, message, retry: false };
}

/** Without a site URL no page can be found; a picture that was taken before stays, and is shown. */
export const SITE_URL_MISSING = verdict(
  "site_url_missing",
  "The project has no site URL. Set it, then its pages can be found.",
);

/** A failure that may be over in a minute. */
export function transient(message: string): Verdict {
  return { status: "temporary_failure", message, retry: true };
}
