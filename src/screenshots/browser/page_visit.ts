/// <reference lib="dom" />
import type { Page } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import {
  CAPTURE_BUSY_MS_MAX,
  CAPTURE_DOM_QUIET_MS,
  CAPTURE_LOAD_MS_MAX,
  CAPTURE_NAVIGATION_MS_MAX,
  CAPTURE_NAVIGATIONS_MAX,
  CAPTURE_QUIET_MS_MAX,
} from "../capture_limits.ts";
import { leaveConsent, refuseConsent } from "../verdict/consent.ts";
import { pause } from "../../turns/pause.ts";
import { Deadline } from "../deadline.ts";
import { readContent } from "../verdict/page_content.ts";
import type { PageContent, PageFacts } from "../verdict/page_facts.ts";
import { DocumentGone, PageBusy, PageSession } from "../page_session.ts";
import { PageTraffic } from "./page_traffic.ts";

export interface VisitOptions {
  readonly url: string;
  /** Patterns of addresses that are blocked. */
  readonly blockedUrls: readonly string[];
  readonly deadlineMs: number;
  /** Aborts the visit, which then throws. */
  readonly signal?: AbortSignal;
}

const POLL_MS = 20;
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;

/**
 * Opens a page, waits until it has settled, wherever it leads to, refuses consent, and returns what happened.
 * Throws nothing that a page causes; throws what the browser's protocol throws when the browser is gone, and the
 * signal's reason.
 */
export async function visitPage(page: Page, options: VisitOptions): Promise<PageFacts> {
  const session = await PageSession.open(page);
  const traffic = await PageTraffic.watch(session);
  try {
    const visit = new Visit(session, traffic, options);
    return await visit.make();
  } finally {
    traffic.stop();
    await session.close();
  }
}

/** Where a page is, without query and fragment: by those it may remember an answer. */
const placeOf = (url: string): string => url.replace(/[?#].*$/s, "");

class Visit {
  readonly #session: PageSession;
  readonly #traffic: PageTraffic;
  readonly #options: VisitOptions;
  readonly #deadline: Deadline;
  #netError: string | null = null;
  #isTimedOut = false;
  /** Whether the response had no document, so that the browser stayed on its blank page. */
  #isEmpty = false;

  constructor(session: PageSession, traffic: PageTraffic, options: VisitOptions) {
    this.#session = session;
    this.#traffic = traffic;
    this.#options = options;
    this.#deadline = new Deadline(options.deadlineMs);
  }

  async make(): Promise<PageFacts> {
    const { cdp } = this.#session;
    await cdp.send("Network.setBlockedURLs", { urls: [...this.#options.blockedUrls] });
    await this.#navigate();
    let content: PageContent | null = null;
    try {
      content = this.#hasFailed ? null : await this.#read();
    } catch (error) {
      const { isCrashed, navigations } = this.#traffic;
      // Whatever fails during a loop of navigations, the loop is its cause.
      if (navigations > CAPTURE_NAVIGATIONS_MAX) this.#netError = "net::ERR_TOO_MANY_REDIRECTS";
      else if (error instanceof PageBusy) this.#isTimedOut = true;
      else if (!isCrashed) throw error;
    }
    return this.#facts(content);
  }

  #facts(content: PageContent | null): PageFacts {
    const traffic = this.#traffic;
    return {
      url: this.#options.url,
      finalUrl: traffic.finalUrl,
      chain: [...traffic.chain],
      httpStatus: traffic.httpStatus,
      headers: traffic.headers,
      contentType: traffic.contentType,
      isDownload: traffic.isDownload,
      netError: this.#netError ?? traffic.netError,
      egressRefusal: null,
      isTimedOut: this.#isTimedOut,
      isCrashed: traffic.isCrashed,
      content: traffic.isCrashed ? null : content,
    };
  }

  /** Whether there will be no document. */
  get #hasFailed(): boolean {
    const { isCrashed, isDownload, netError } = this.#traffic;
    return isCrashed || isDownload || this.#isEmpty || (this.#netError ?? netError) !== null;
  }

  async #navigate(): Promise<void> {
    const timeout = Math.max(1, this.#deadline.leftMs(CAPTURE_NAVIGATION_MS_MAX));
    try {
      const { errorText } = await this.#session.cdp.send(
        "Page.navigate",
        { url: this.#options.url },
        { timeout },
      );
      if (errorText === undefined) return;
      // An empty response and a download are reported as failures too.
      if (this.#traffic.httpStatus === null) this.#netError = errorText;
      this.#isEmpty = true;
    } catch (error) {
      if (!/timed out/i.test(String(error))) throw error;
      this.#netError = "net::ERR_TIMED_OUT";
      this.#isTimedOut = true;
    }
  }

  async #read(): Promise<PageContent | null> {
    await this.#settle();
    if (this.#hasFailed || !this.#isDocument) return null;
    if (this.#isTimedOut) return await readContent(this.#session, "none");
    const place = this.#place;
    let consent = await this.#steadily(() => refuseConsent(this.#session, this.#deadline));
    if (consent !== "none") await this.#settle();
    if (consent !== "none" && ![place, placeOf(this.#options.url)].includes(this.#place)) {
      // Refusing led to another page, so the requested one is opened again.
      await this.#navigate();
      await this.#settle();
      if (!this.#hasFailed) consent = await this.#steadily(() => leaveConsent(this.#session));
    }
    if (this.#hasFailed || !this.#isDocument) return null;
    return await this.#steadily(() => readContent(this.#session, consent));
  }

  get #place(): string {
    return placeOf(this.#traffic.finalUrl);
  }

  get #isDocument(): boolean {
    const { contentType, httpStatus } = this.#traffic;
    const isEmpty = httpStatus === 204 || httpStatus === 205;
    return !isEmpty && (contentType === null || HTML.test(contentType));
  }

  /** Does `work`, and repeats it on the new document if the page navigates meanwhile. */
  async #steadily<T>(work: () => Promise<T>): Promise<T> {
    for (let i = 0; i < CAPTURE_NAVIGATIONS_MAX; i++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof DocumentGone)) throw error;
        await this.#settle();
      }
    }
    throw new PageBusy("The page kept going elsewhere.");
  }

  /** Waits until the document is loaded and quiet, and no other one has been requested. */
  async #settle(): Promise<void> {
    const traffic = this.#traffic;
    for (;;) {
      const navigations = traffic.navigations;
      if (navigations > CAPTURE_NAVIGATIONS_MAX) return await this.#endLoop();
      await Promise.all([
        this.#until(
          CAPTURE_LOAD_MS_MAX,
          () => (traffic.isLoaded || traffic.isStalled) && !traffic.isNavigating,
        ),
        this.#assertResponsive(),
      ]);
      if (this.#hasFailed || !this.#isDocument) return;
      if (!traffic.isParsed && !traffic.isNavigating) {
        this.#isTimedOut = true;
        return;
      }
      await this.#quiet();
      if (navigations === traffic.navigations && !traffic.isNavigating) return;
      if (this.#deadline.hasPassed) throw new PageBusy("The page did not come to rest.");
    }
  }

  /** Throws PageBusy if the page's scripts never pause. */
  async #assertResponsive(): Promise<void> {
    try {
      await this.#session.run(() => true, [], {
        msMax: this.#deadline.leftMs(CAPTURE_BUSY_MS_MAX),
      });
    } catch (error) {
      if (!(error instanceof DocumentGone) && !this.#traffic.isCrashed) throw error;
    }
  }

  async #quiet(): Promise<void> {
    const msMax = this.#deadline.leftMs(CAPTURE_QUIET_MS_MAX);
    await Promise.all([
      this.#until(msMax, () => this.#traffic.isQuiet),
      this.#session.run(untilUnchanged, [CAPTURE_DOM_QUIET_MS, msMax], { msMax: 2 * msMax + 1 })
        .catch((error) => {
          if (!(error instanceof DocumentGone)) throw error;
        }),
    ]);
  }

  /** Stops a page that navigates again and again. */
  async #endLoop(): Promise<void> {
    this.#netError = "net::ERR_TOO_MANY_REDIRECTS";
    await this.#session.cdp.send("Network.setBlockedURLs", { urls: ["*"] });
    await this.#session.cdp.send("Page.stopLoading").catch(() => {});
  }

  async #until(msMax: number, check: () => boolean): Promise<void> {
    const endMs = performance.now() + this.#deadline.leftMs(msMax);
    const isLoop = () => this.#traffic.navigations > CAPTURE_NAVIGATIONS_MAX;
    while (!check() && !this.#hasFailed && !isLoop() && performance.now() < endMs) {
      this.#options.signal?.throwIfAborted();
      await pause(POLL_MS);
    }
  }
}

/** Runs in the page: resolves when the document has not changed for `quietMs`, or after `msMax`. */
function untilUnchanged(quietMs: number, msMax: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(last);
      resolve();
    };
    const wind = () => {
      clearTimeout(timer);
      timer = setTimeout(end, quietMs);
    };
    const observer = new MutationObserver(wind);
    const last = setTimeout(end, msMax);
    let timer = setTimeout(end, quietMs);
    observer.observe(document, { childList: true, characterData: true, subtree: true });
  });
}
