import type { Protocol } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import {
  CAPTURE_NETWORK_IDLE_MS,
  CAPTURE_NETWORK_QUIET_MS,
  CAPTURE_NETWORK_QUIET_REQUESTS,
  CAPTURE_REFRESH_MS_MAX,
  CAPTURE_REQUESTS_MAX,
  CAPTURE_STALLED_MS,
} from "../capture_limits.ts";
import type { PageSession } from "../page_session.ts";

/** Types of requests that stay open by design, or that no visitor waits for. */
const UNAWAITED: readonly Protocol.Network.ResourceType[] = [
  "EventSource",
  "Media",
  "Ping",
  "Prefetch",
  "WebSocket",
];
/** Statuses of responses that leave the browser on its current page. */
const EMPTY_STATUSES = [204, 205];
const REFRESH_MARGIN_MS = 150;

/** The request for a document of the main frame. */
interface MainRequest {
  readonly id: string;
  isDone: boolean;
}

/** The response that a document came with. */
interface DocumentResponse {
  readonly httpStatus: number | null;
  readonly headers: Record<string, string>;
  readonly contentType: string | null;
}

/** Watches the network and the main frame of a page until it is stopped. */
export class PageTraffic {
  readonly chain: string[] = [];
  finalUrl = "about:blank";
  httpStatus: number | null = null;
  headers: Record<string, string> = {};
  contentType: string | null = null;
  isDownload = false;
  netError: string | null = null;
  isCrashed = false;
  isTooMuch = false;
  /** How many documents were requested in the main frame, without redirects by the server. */
  navigations = 0;
  /** Whether the current document is parsed, and loaded. */
  isParsed = false;
  isLoaded = false;
  #requests = 0;
  #main: MainRequest | null = null;
  #committedId: string | null = null;
  /** The response of the current document. */
  #current: DocumentResponse | null = null;
  #rawStatus: number | null = null;
  #refreshAtMs = 0;
  /** When a request last began or ended, and when many were last running. */
  #changedAtMs = performance.now();
  #busyAtMs = performance.now();
  readonly #running = new Set<string>();
  readonly #session: PageSession;
  readonly #stops: (() => void)[] = [];

  private constructor(session: PageSession) {
    this.#session = session;
  }

  static async watch(session: PageSession): Promise<PageTraffic> {
    const traffic = new PageTraffic(session);
    traffic.#listen();
    await session.cdp.send("Network.enable");
    return traffic;
  }

  stop(): void {
    this.#stops.splice(0).forEach((stop) => stop());
  }

  /** Whether a document has been requested, or announced for soon. */
  get isNavigating(): boolean {
    const isRequested = this.#main !== null && !this.#main.isDone &&
      this.#main.id !== this.#committedId;
    return isRequested || performance.now() < this.#refreshAtMs;
  }

  /** Whether no request has been running for a while, or only few for longer. */
  get isQuiet(): boolean {
    const now = performance.now();
    return this.#running.size === 0
      ? now - this.#changedAtMs >= CAPTURE_NETWORK_IDLE_MS
      : now - this.#busyAtMs >= CAPTURE_NETWORK_QUIET_MS;
  }

  /** Whether only few requests are running, and none of them has ended for long: the page works without them. */
  get isStalled(): boolean {
    return this.isParsed && this.#running.size <= CAPTURE_NETWORK_QUIET_REQUESTS &&
      performance.now() - this.#changedAtMs >= CAPTURE_STALLED_MS;
  }

  /** Must be called whenever a request begins or ends. */
  #noteChange(): void {
    this.#changedAtMs = performance.now();
    if (this.#running.size > CAPTURE_NETWORK_QUIET_REQUESTS) this.#busyAtMs = this.#changedAtMs;
  }

  #listen(): void {
    const { cdp } = this.#session;
    const on = <T>(name: string, take: (event: T) => void) => {
      // deno-lint-ignore no-explicit-any -- the emitter's names are a union of hundreds
      cdp.on(name as any, take as any);
      // deno-lint-ignore no-explicit-any -- as above
      this.#stops.push(() => cdp.off(name as any, take as any));
    };
    on<Protocol.Network.RequestWillBeSentEvent>(
      "Network.requestWillBeSent",
      (event) => this.#requested(event),
    );
    on<Protocol.Network.ResponseReceivedEvent>(
      "Network.responseReceived",
      (event) => this.#answered(event),
    );
    on<Protocol.Network.ResponseReceivedExtraInfoEvent>(
      "Network.responseReceivedExtraInfo",
      ({ requestId, statusCode }) => {
        if (requestId === this.#main?.id) this.#rawStatus = statusCode;
      },
    );
    on<Protocol.Network.LoadingFinishedEvent>(
      "Network.loadingFinished",
      ({ requestId }) => this.#finished(requestId, null),
    );
    on<Protocol.Network.LoadingFailedEvent>(
      "Network.loadingFailed",
      ({ requestId, errorText }) => this.#finished(requestId, errorText),
    );
    this.#listenToFrames(on);
  }

  #listenToFrames(on: <T>(name: string, take: (event: T) => void) => void): void {
    const main = this.#session.frameId;
    on<Protocol.Page.FrameNavigatedEvent>("Page.frameNavigated", ({ frame }) => {
      if (frame.id !== main) return;
      this.#committedId = frame.loaderId;
      const { httpStatus, headers, contentType } = this;
      this.#current = { httpStatus, headers, contentType };
      this.isParsed = false;
      this.isLoaded = false;
      this.#refreshAtMs = 0;
      // The requests of the previous document do not matter any more.
      this.#running.clear();
      this.#changedAtMs = this.#busyAtMs = performance.now();
      // The browser's own error page has an address of its own.
      if (frame.unreachableUrl === undefined) this.#arrived(frame.url);
      else this.finalUrl = frame.unreachableUrl;
    });
    on<Protocol.Page.NavigatedWithinDocumentEvent>("Page.navigatedWithinDocument", (event) => {
      if (event.frameId === main) this.#arrived(event.url);
    });
    on<Protocol.Page.FrameScheduledNavigationEvent>("Page.frameScheduledNavigation", (event) => {
      const delayMs = event.delay * 1000;
      if (event.frameId !== main || delayMs > CAPTURE_REFRESH_MS_MAX) return;
      this.#refreshAtMs = performance.now() + delayMs + REFRESH_MARGIN_MS;
    });
    on<Protocol.Page.FrameClearedScheduledNavigationEvent>(
      "Page.frameClearedScheduledNavigation",
      ({ frameId }) => {
        if (frameId === main) this.#refreshAtMs = 0;
      },
    );
    on("Page.domContentEventFired", () => this.isParsed = true);
    on("Page.loadEventFired", () => this.isLoaded = true);
    on<Protocol.Page.DownloadWillBeginEvent>("Page.downloadWillBegin", ({ frameId }) => {
      if (frameId === main && this.#current === null) this.isDownload = true;
    });
    on("Inspector.targetCrashed", () => this.isCrashed = true);
  }

  #requested(event: Protocol.Network.RequestWillBeSentEvent): void {
    const { requestId, loaderId, frameId, type = "Other", request, redirectResponse } = event;
    if (++this.#requests > CAPTURE_REQUESTS_MAX && !this.isTooMuch) {
      this.isTooMuch = true;
      this.#session.cdp.send("Network.setBlockedURLs", { urls: ["*"] }).catch(() => {});
    }
    if (type === "Document" && frameId === this.#session.frameId && requestId === loaderId) {
      if (redirectResponse === undefined) this.navigations++;
      this.#main = { id: requestId, isDone: false };
      this.#rawStatus = null;
      this.httpStatus = null;
      this.headers = {};
      this.contentType = null;
      this.netError = null;
      this.#enchain(request.url);
    } else if (!UNAWAITED.includes(type)) {
      this.#running.add(requestId);
      this.#noteChange();
    }
  }

  #answered({ requestId, response }: Protocol.Network.ResponseReceivedEvent): void {
    if (requestId !== this.#main?.id) return;
    this.httpStatus = response.status;
    this.headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    this.contentType = response.mimeType.toLowerCase() || null;
  }

  #finished(requestId: string, error: string | null): void {
    // Noted before this one is removed, as many may have been running until now.
    if (this.#running.has(requestId)) this.#noteChange();
    this.#running.delete(requestId);
    if (requestId !== this.#main?.id) return;
    this.#main.isDone = true;
    // The browser does not report some responses (401, 204), but does report their raw status.
    const raw = this.#rawStatus;
    if (this.httpStatus === null && raw !== null && (raw < 300 || raw >= 400)) {
      this.httpStatus = raw;
    }
    const status = this.httpStatus;
    const isEmpty = status !== null && EMPTY_STATUSES.includes(status);
    const isDropped = isEmpty || error === "net::ERR_ABORTED";
    // A download or an empty response leaves the current document in place.
    if (isDropped && this.#current !== null && requestId !== this.#committedId) {
      Object.assign(this, this.#current);
      return;
    }
    if (error === null || isEmpty) return;
    // A successful response that the browser aborts is one that it would have stored as a file.
    if (error === "net::ERR_ABORTED" && status !== null && status < 300) this.isDownload = true;
    if (!this.isDownload) this.netError = error;
  }

  #arrived(url: string): void {
    this.finalUrl = url;
    this.#enchain(url);
  }

  #enchain(url: string): void {
    const [bare] = url.split("#");
    if (this.chain.at(-1)?.split("#")[0] !== bare) this.chain.push(url);
  }
}
