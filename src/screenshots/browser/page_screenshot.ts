import type { CaptureDevice, Verdict } from "../capture_status.ts";

/** The picture of a page. */
export interface Screenshot {
  readonly bytes: Uint8Array;
  readonly contentType: "image/jpeg" | "image/webp";
  /** CSS pixels. */
  readonly widthPx: number;
  /** CSS pixels. */
  readonly heightPx: number;
  /** The page goes on below: it is taller than a picture may be. */
  readonly isCut: boolean;
}

/** What is to be photographed. */
export interface ScreenshotRequest {
  /** The project's; null: none is set. */
  readonly siteUrl: string | null;
  /** Set on behalf of the whole deployment: only then may it be of the server's own network. */
  readonly siteUrlByOperator: boolean;
  /** Hosts of the path's own events, in lower case; empty: none is known. */
  readonly trackedHosts: readonly string[];
  readonly path: string;
  readonly device: CaptureDevice;
  /** Paths of this server's own endpoints for events, whatever the host: a capture is no visit. */
  readonly ownEndpoints: readonly string[];
  /** Gives the attempt up: it throws then, and nothing of it is kept. */
  readonly signal?: AbortSignal;
}

/** What an attempt came to, and the picture where it is `captured`. */
export interface ScreenshotResult {
  readonly verdict: Verdict;
  readonly screenshot: Screenshot | null;
}

/** Takes pictures of pages, one at a time or several. */
export interface PageCamera {
  /** Never throws for what a page does. */
  takeScreenshot(request: ScreenshotRequest): Promise<ScreenshotResult>;
  /** Ends the browser, if one runs; a later call of `takeScreenshot` starts another. */
  close(): Promise<void>;
}
