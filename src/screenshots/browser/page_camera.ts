import { join } from "node:path";
import type { Log } from "../../http/log.ts";
import { CAPTURE_MS_MAX, CAPTURE_VISIT_MS_MAX } from "../capture_limits.ts";
import { blockedUrlPatterns, isBlockedHost } from "../egress/blocked_requests.ts";
import { CaptureBrowser } from "./browser.ts";
import { transient, type Verdict, verdict } from "../capture_status.ts";
import { Deadline, DeadlinePassed } from "../deadline.ts";
import { type EgressEntry, EgressProxy, egressSiteOf } from "../egress/egress_proxy.ts";
import { isOwnNetworkHost } from "../egress/egress_route.ts";
import { logReason } from "../log_reason.ts";
import type { PageFacts } from "../verdict/page_facts.ts";
import { DocumentGone, PageBusy } from "../page_session.ts";
import { visitPage } from "./page_visit.ts";
import type {
  PageCamera,
  Screenshot,
  ScreenshotRequest,
  ScreenshotResult,
} from "./page_screenshot.ts";
import { judgePage, judgeSite } from "../verdict/reachability.ts";
import { REFUSAL_HEADER } from "../egress/request_head.ts";
import { BrowserEnded, BrowserMissing } from "./running_browser.ts";
import { RenderFailed, takeScreenshot } from "./take_screenshot.ts";

export interface PageCameraOptions {
  readonly config: {
    readonly chromePath: string | null;
    readonly chromeNoSandbox: boolean;
    readonly dataDir: string;
  };
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Default: one with the settings of `config`. */
  readonly browser?: CaptureBrowser;
}

/** How many of the browser's last lines of standard error are logged. */
const STDERR_LINES = 3;
const BUSY = verdict("render_failed", "The page kept the browser busy and never came to rest.");
const NOT_OPERATORS = verdict(
  "blocked_address",
  "The site URL is an address of the server's own network. Somebody whose token is for every " +
    "project must set it once more.",
);
const NO_PAGE = verdict("not_a_page", "This path leads off the site, so it is no page of it.");

/** Makes a camera that takes pictures of pages with a browser on this machine. */
export function createPageCamera(
  { config, log, now, browser }: PageCameraOptions,
): PageCamera {
  const own = browser ?? new CaptureBrowser({
    chromePath: config.chromePath,
    noSandbox: config.chromeNoSandbox,
    isRoot: isRoot(),
    profileRoot: join(config.dataDir, "browser"),
  });
  return {
    async takeScreenshot(request) {
      const startedAt = now();
      const result = await attempt(own, request, log);
      const { device } = request;
      const { verdict: { status }, screenshot } = result;
      log.debug("photographed a page", {
        device,
        status,
        ms: now() - startedAt,
        bytes: screenshot?.bytes.length,
      });
      return result;
    },
    close: () => own.close(),
  };
}

/** Whether the process runs as root; false without the permission to ask, as the browser itself then refuses. */
function isRoot(): boolean {
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "uid" });
  return state === "granted" && Deno.uid() === 0;
}

async function attempt(
  browser: CaptureBrowser,
  request: ScreenshotRequest,
  log: Log,
): Promise<ScreenshotResult> {
  const { siteUrl, trackedHosts, path, signal } = request;
  signal?.throwIfAborted();
  const unfit = judgeSite(siteUrl, trackedHosts);
  if (unfit !== null || siteUrl === null) return { verdict: unfit!, screenshot: null };
  if (!request.siteUrlByOperator && isOwnNetworkHost(new URL(siteUrl).hostname)) {
    return { verdict: NOT_OPERATORS, screenshot: null };
  }
  const url = pageUrl(siteUrl, path);
  if (url === null) return { verdict: NO_PAGE, screenshot: null };
  try {
    return await visitAndCapture(browser, { ...request, siteUrl }, url);
  } catch (error) {
    signal?.throwIfAborted();
    return { verdict: verdictOf(error, log), screenshot: null };
  }
}

/** Returns the page's address; null if it is not on the site, as paths come from untrusted events. */
function pageUrl(siteUrl: string, path: string): string | null {
  const site = new URL(siteUrl);
  const url = path.startsWith("/") ? URL.parse(path, site) : null;
  if (url === null || url.origin !== site.origin) return null;
  url.search = "";
  url.hash = "";
  return url.href;
}

async function visitAndCapture(
  browser: CaptureBrowser,
  request: ScreenshotRequest & { readonly siteUrl: string },
  url: string,
): Promise<ScreenshotResult> {
  const { siteUrl, device, ownEndpoints, signal: given } = request;
  const deadline = new Deadline(CAPTURE_MS_MAX);
  const site = egressSiteOf(siteUrl);
  await using proxy = await EgressProxy.start({
    site,
    blockedHosts: (host) => isBlockedHost(site.host, host),
  });
  const options = {
    device,
    proxyUrl: proxy.url,
    deadlineMs: deadline.leftMs(),
    ...(given === undefined ? {} : { signal: given }),
  };
  return await browser.page(options, async (page, signal) => {
    const facts = withRefusal(
      await visitPage(page, {
        url,
        blockedUrls: blockedUrlPatterns(site.host, ownEndpoints),
        deadlineMs: deadline.leftMs(CAPTURE_VISIT_MS_MAX),
        signal,
      }),
      proxy.log(),
    );
    const unfit = isBusy(facts) ? BUSY : judgePage(facts, { siteUrl });
    if (unfit !== null) return { verdict: unfit, screenshot: null };
    const screenshot = await takeScreenshot(page, device, deadline.leftMs());
    return { verdict: captured(screenshot), screenshot };
  });
}

/** Whether the document arrived, but its scripts blocked the browser until the time was over. */
function isBusy({ isTimedOut, content, httpStatus, netError }: PageFacts): boolean {
  return isTimedOut && content === null && httpStatus === 200 && netError === null;
}

function captured({ isCut, heightPx }: Screenshot): Verdict {
  return verdict(
    "captured",
    isCut
      ? `The page was photographed down to ${heightPx.toLocaleString("en")} pixels.`
      : "The page was photographed.",
  );
}

/** Returns the facts with the proxy's reason if it refused the main document, whose reply is then the proxy's. */
function withRefusal(facts: PageFacts, log: readonly EgressEntry[]): PageFacts {
  const requested = URL.parse(facts.chain.at(-1) ?? facts.url);
  if (requested === null || !/^https?:$/.test(requested.protocol)) return facts;
  const port = Number(requested.port) || (requested.protocol === "https:" ? 443 : 80);
  const entry = log.findLast((entry) => entry.host === requested.hostname && entry.port === port);
  const isFailed = facts.netError !== null || REFUSAL_HEADER.toLowerCase() in facts.headers;
  if (entry === undefined || entry.outcome === "open" || !isFailed) return facts;
  const none = { ...facts, httpStatus: null, headers: {}, contentType: null, content: null };
  switch (entry.outcome) {
    case "unresolved":
      return { ...none, netError: "net::ERR_NAME_NOT_RESOLVED" };
    case "unreachable":
      return { ...none, netError: "net::ERR_CONNECTION_FAILED" };
    default:
      return { ...none, netError: "net::ERR_BLOCKED_BY_CLIENT", egressRefusal: entry.outcome };
  }
}

function verdictOf(error: unknown, log: Log): Verdict {
  if (error instanceof BrowserMissing) {
    const stderr = typeof error.cause === "string" ? error.cause : "";
    const lines = stderr.trim().split("\n").slice(-STDERR_LINES);
    log.debug("no browser", { stderr: logReason(lines.join(" | ")) });
    return verdict("no_browser", error.message);
  }
  if (error instanceof RenderFailed) return verdict("render_failed", error.message);
  if (error instanceof BrowserEnded) return transient(error.message);
  if (error instanceof PageBusy || error instanceof DeadlinePassed) return BUSY;
  const reason = logReason(error);
  if (error instanceof DocumentGone || /target (?:closed|crashed)|session closed/i.test(reason)) {
    log.debug("a page ended while it was photographed", { reason });
    return verdict("render_failed", "The page made the browser stop while it was being drawn.");
  }
  log.warn("a page could not be photographed", { reason });
  return transient("The page could not be photographed at the moment.");
}
