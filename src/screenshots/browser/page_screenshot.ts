import type { CaptureDevice, Verdict } from "../capture_status.ts";

/** The picture of a page. */
export interface Screenshot {
  readonly bytes: Uint8Array;
  readonly contentType: "image/jpeg" | "image/webp";
  /** CSS pixels. */
  readonly widthPx: number;
  /** CSS pixels. */
  readonly heightPx: number;
  /** Whether the page is taller than a picture may be, so that its end is missing. */
  readonly isCut: boolean;
}

/** The page to capture. */
export interface ScreenshotRequest {
  /** The project's site URL; null: none is set. */
  readonly siteUrl: string | null;
  /** Whether it was set by an operator of the whole server: only then may it be in the server's own network. */
  readonly siteUrlByOperator: boolean;
  /** Hosts of the path's own events, in lower case; empty: none is known. */
  readonly trackedHosts: readonly string[];
  readonly path: string;
  readonly device: CaptureDevice;
  /** The paths of this server's endpoints for events, which are blocked on any host: a capture is not a visit. */
  readonly ownEndpoints: readonly string[];
  /** Aborts the attempt, which then throws. */
  readonly signal?: AbortSignal;
}

/** The outcome of an attempt, and the picture if it is `captured`. */
export interface ScreenshotResult {
  readonly verdict: Verdict;
  readonly screenshot: Screenshot | null;
}

/** Takes pictures of pages, one at a time or several. */
export interface PageCamera {
  /** Takes a picture. Throws nothing that a page causes. */
  takeScreenshot(request: ScreenshotRequest): Promise<ScreenshotResult>;
  /** Closes the browser, if one is running; a later call of `takeScreenshot` starts another. */
  close(): Promise<void>;
}
