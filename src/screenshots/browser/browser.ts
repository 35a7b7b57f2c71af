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
  /** The browser that the operator named; null: the first in the usual places. */
  readonly chromePath: string | null;
  /** Without its sandbox: only where the operator says so. */
  readonly noSandbox: boolean;
  readonly isRoot: boolean;
  /** The folder below which each browser has its own. */
  readonly profileRoot: string;
  readonly pagesMax?: number;
  readonly idleMs?: number;
}

export interface PageOptions {
  readonly device: CaptureDevice;
  /** The only way out, such as http://127.0.0.1:4711. */
  readonly proxyUrl: string;
  readonly deadlineMs: number;
  /** Gives the page up. */
  readonly signal?: AbortSignal;
}

const ENDED = "The browser ended while the page was photographed.";

/**
 * The browser of the captures: started when a page is wanted, replaced after so many pages or when
 * it has ended, closed when nothing happens. Each page has a context of its own, so that nothing of
 * one visit is left for the next.
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

  /** Process ids of the browsers that run now. */
  get pids(): readonly number[] {
    return [...this.#all].filter(({ hasEnded }) => !hasEnded).flatMap(({ pid }) => pid ?? []);
  }

  /**
   * What `work` makes of a fresh page. Whatever comes of it, the page is gone afterwards.
   * Throws BrowserMissing; BrowserEnded where the browser ended meanwhile; DeadlinePassed; what
   * `work` throws; the signal's reason.
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
      // A browser that cannot even close a page is of no more use.
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

  /** Ends the browser, if one runs; pages under way fail. A later page starts another. */
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

/** Asks for nothing: a permission that the operator did not give counts as no browser. */
async function mayRun(path: string): Promise<boolean> {
  const may = await Deno.permissions.query({ name: "run", command: path });
  const mayStart = await Deno.permissions.query({ name: "env", variable: "NODE_V8_COVERAGE" });
  if (may.state !== "granted" || mayStart.state !== "granted") return false;
  const maySee = await Deno.permissions.query({ name: "read", path });
  // Not allowed to look, but to run: then starting it tells.
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
    // Chromium goes past the proxy for loopback addresses unless it is told not to.
    proxyBypassList: ["<-loopback>"],
    downloadBehavior: { policy: "deny" },
  });
}

/** A blank page that shows no dialogs, opens no windows and keeps no service workers. */
async function openPage(context: BrowserContext, device: CaptureDevice): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(CAPTURE_CALL_MS_MAX);
  page.on("dialog", (dialog) => dialog.dismiss().catch(() => {}));
  page.on("popup", (popup) => popup?.close().catch(() => {}));
  const cdp = await page.createCDPSession();
  await Promise.all([
    // No list of origins: every permission of every origin is refused. Asked of the page, since the
    // browser itself does not always tell the connection of itself.
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
