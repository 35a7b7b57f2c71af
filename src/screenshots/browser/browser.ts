/// <reference lib="dom" />
import type { BrowserContext, Page } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import {
  CAPTURE_BROWSER_IDLE_MS,
  CAPTURE_CALL_MS_MAX,
  CAPTURE_CLOSE_MS_MAX,
  CAPTURE_PAGES_PER_BROWSER_MAX,
} from "../capture_limits.ts";
import { findBrowser } from "./browser_finder.ts";
import { makeProfile, sweepProfiles } from "./browser_profile.ts";
import type { CaptureDevice } from "../capture_status.ts";
import { within } from "../deadline.ts";
import { emulateDevice } from "../device.ts";
import { BrowserEnded, BrowserMissing, RunningBrowser } from "./running_browser.ts";

export interface CaptureBrowserOptions {
  /** The browser that the operator configured; null: the first in the usual places. */
  readonly chromePath: string | null;
  /** Runs the browser without its sandbox, if the operator configured this. */
  readonly noSandbox: boolean;
  readonly isRoot: boolean;
  /** The folder that contains a profile folder for each browser. */
  readonly profileRoot: string;
  readonly pagesMax?: number;
  readonly idleMs?: number;
}

export interface PageOptions {
  readonly device: CaptureDevice;
  /** The proxy for all of its requests, such as http://127.0.0.1:4711. */
  readonly proxyUrl: string;
  readonly deadlineMs: number;
  /** Aborts the work on the page. */
  readonly signal?: AbortSignal;
}

const ENDED = "The browser ended while the page was photographed.";

/**
 * The browser of the captures: it is started when a page is needed, replaced after a number of pages or when it
 * has ended, and closed when it is idle. Each page has its own context, so that nothing of a visit is left for
 * the next one.
 */
export class CaptureBrowser implements AsyncDisposable {
  readonly #options: CaptureBrowserOptions;
  readonly #all = new Set<RunningBrowser>();
  #current: Promise<RunningBrowser> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isSwept = false;

  constructor(options: CaptureBrowserOptions) {
    this.#options = options;
  }

  /** The process ids of the running browsers. */
  get pids(): readonly number[] {
    return [...this.#all].filter(({ hasEnded }) => !hasEnded).flatMap(({ pid }) => pid ?? []);
  }

  /**
   * Returns the result of `work` on a new page, which is closed afterwards in any case.
   * Throws BrowserMissing; BrowserEnded if the browser ended meanwhile; DeadlinePassed; what `work` throws; the
   * signal's reason.
   */
  async page<T>(
    options: PageOptions,
    work: (page: Page, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    options.signal?.throwIfAborted();
    const running = await this.#take();
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, ...(options.signal ? [options.signal] : [])]);
    let context: BrowserContext | undefined;
    const visit = async () => {
      context = await makeContext(running, options.proxyUrl);
      const page = await openPage(context, options.device);
      return await work(page, signal);
    };
    try {
      const work = Promise.race([visit(), ended(running), aborted(signal)]);
      return await within(options.deadlineMs, work, "the page");
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!running.isAlive) throw new BrowserEnded(ENDED, { cause: error });
      throw error;
    } finally {
      over.abort();
      await this.#giveBack(running, context);
    }
  }

  async #take(): Promise<RunningBrowser> {
    clearTimeout(this.#idle);
    const starting = this.#current;
    const known = await starting?.catch(() => undefined);
    const pagesMax = this.#options.pagesMax ?? CAPTURE_PAGES_PER_BROWSER_MAX;
    const isUsable = known !== undefined && known.isAlive && known.pages < pagesMax;
    // Another caller may have started one while this one waited.
    if (!isUsable && this.#current === starting) {
      this.#current = this.#launch();
      if (known?.pagesOpen === 0) await this.#close(known);
    }
    const running = await this.#current!;
    if (!running.isAlive || running.pages >= pagesMax) return await this.#take();
    running.pages++;
    running.pagesOpen++;
    return running;
  }

  async #giveBack(running: RunningBrowser, context: BrowserContext | undefined): Promise<void> {
    try {
      if (context !== undefined && running.isAlive) {
        await within(CAPTURE_CLOSE_MS_MAX, context.close(), "closing the page");
      }
    } catch {
      // A browser that cannot even close a page is unusable.
      await running.kill();
    }
    running.pagesOpen--;
    const isCurrent = await this.#current?.catch(() => undefined) === running;
    if (running.pagesOpen === 0 && (!isCurrent || !running.isAlive)) await this.#close(running);
    if ([...this.#all].every(({ pagesOpen }) => pagesOpen === 0)) this.#closeLater();
  }

  #closeLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), this.#options.idleMs ?? CAPTURE_BROWSER_IDLE_MS);
    Deno.unrefTimer(this.#idle);
  }

  async #launch(): Promise<RunningBrowser> {
    const { chromePath, noSandbox, isRoot, profileRoot } = this.#options;
    if (isRoot && !noSandbox) {
      throw new BrowserMissing(
        "The browser does not run as root with its sandbox: run Footfall as another user, " +
          "or set CHROME_NO_SANDBOX=1.",
      );
    }
    const path = await findBrowser(chromePath, Deno.build.os, mayRun);
    if (path === null) throw missing(chromePath);
    if (!this.#isSwept) await sweepProfiles(profileRoot);
    this.#isSwept = true;
    const running = await RunningBrowser.launch(path, noSandbox, await makeProfile(profileRoot));
    this.#all.add(running);
    running.ended.then(() => this.#all.delete(running));
    return running;
  }

  async #close(running: RunningBrowser): Promise<void> {
    this.#all.delete(running);
    await running.close();
  }

  /** Closes the browser, if one is running; its open pages fail. A later page starts another. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const starting = this.#current;
    this.#current = undefined;
    await starting?.catch(() => undefined);
    await Promise.all([...this.#all].map((running) => this.#close(running)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Whether a program exists and may be run, without prompting: one without permission counts as no browser. */
async function mayRun(path: string): Promise<boolean> {
  const may = await Deno.permissions.query({ name: "run", command: path });
  const mayStart = await Deno.permissions.query({ name: "env", variable: "NODE_V8_COVERAGE" });
  if (may.state !== "granted" || mayStart.state !== "granted") return false;
  const maySee = await Deno.permissions.query({ name: "read", path });
  // It may be run but not read: starting it shows whether it exists.
  if (maySee.state !== "granted") return true;
  return await Deno.stat(path).then(({ isFile }) => isFile, () => false);
}

function missing(chromePath: string | null): BrowserMissing {
  return new BrowserMissing(
    chromePath === null
      ? "The server has no browser to photograph with: install Chromium, or set CHROME_PATH."
      : "The server has no browser that it may run at CHROME_PATH: correct it, and see that the " +
        "server's permissions allow that program.",
  );
}

async function ended(running: RunningBrowser): Promise<never> {
  await running.ended;
  throw new BrowserEnded(ENDED);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  );
}

async function makeContext(running: RunningBrowser, proxyUrl: string): Promise<BrowserContext> {
  return await running.browser.createBrowserContext({
    proxyServer: proxyUrl,
    // By default, Chromium bypasses the proxy for loopback addresses.
    proxyBypassList: ["<-loopback>"],
    downloadBehavior: { policy: "deny" },
  });
}

/** Opens a blank page that shows no dialogs, opens no windows and keeps no service workers. */
async function openPage(context: BrowserContext, device: CaptureDevice): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(CAPTURE_CALL_MS_MAX);
  page.on("dialog", (dialog) => dialog.dismiss().catch(() => {}));
  page.on("popup", (popup) => popup?.close().catch(() => {}));
  const cdp = await page.createCDPSession();
  await Promise.all([
    // Refuses every permission of every origin. Sent to the page's session, since the connection does not always
    // have one to the browser itself.
    cdp.send("Browser.grantPermissions", {
      permissions: [],
      ...(context.id === undefined ? {} : { browserContextId: context.id }),
    }),
    emulateDevice(page, cdp, device),
    cdp.send("Network.enable"),
    cdp.send("Network.setBypassServiceWorker", { bypass: true }),
    page.evaluateOnNewDocument(visitWithoutTraces),
  ]);
  return page;
}

/** Runs in the page before its own scripts. */
function visitWithoutTraces(): void {
  Object.defineProperty(Navigator.prototype, "globalPrivacyControl", {
    get: () => true,
    configurable: true,
  });
  if ("ServiceWorkerContainer" in globalThis) {
    ServiceWorkerContainer.prototype.register = () =>
      Promise.reject(new DOMException("Service workers are not kept here.", "SecurityError"));
  }
}
