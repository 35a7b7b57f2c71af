import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import puppeteer, { type Browser } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import {
  CAPTURE_CALL_MS_MAX,
  CAPTURE_CLOSE_MS_MAX,
  CAPTURE_HEAP_MEBIBYTES_MAX,
  CAPTURE_LAUNCH_MS_MAX,
} from "../capture_limits.ts";
import type { BrowserProfile } from "./browser_profile.ts";
import { within } from "../deadline.ts";
import { PipeTransport } from "./pipe_transport.ts";

/** There is no browser that can take captures. The message is for people and says what to do. */
export class BrowserMissing extends Error {
  override readonly name = "BrowserMissing";
}

/** The browser ended, or does not answer; another one may work. The message is for people. */
export class BrowserEnded extends Error {
  override readonly name = "BrowserEnded";
}

const STDERR_LENGTH_MAX = 8_000;
const TEMPORARY_FOLDER_LENGTH_MAX = 60;
/** How long the process may take to end after its pipe. */
const EXIT_MS_MAX = 1_000;
/** Features that cost time or contact the vendor (downloads, updates, syncing, hints), which nobody needs here. */
const DISABLED_FEATURES = [
  "AcceptCHFrame",
  "AutofillServerCommunication",
  "CertificateTransparencyComponentUpdater",
  "InterestFeedContentSuggestions",
  "IsolateOrigins",
  "IsolateSandboxedIframes",
  "MediaRouter",
  "OptimizationHints",
  "Prerender2",
  "Translate",
  // Frames of other sites run in the page's own process, so that what the page is blocked from is blocked for them.
  "site-per-process",
];
const ARGUMENTS = [
  "--headless=new",
  "--remote-debugging-pipe",
  // The browser itself resolves no names: the egress proxy does.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--disable-quic",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--dns-prefetch-disable",
  "--disable-background-networking",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-update",
  "--disable-crash-reporter",
  "--disable-default-apps",
  "--disable-dev-shm-usage",
  "--disable-domain-reliability",
  "--disable-extensions",
  `--disable-features=${DISABLED_FEATURES.join(",")}`,
  "--disable-gpu",
  "--disable-hang-monitor",
  "--disable-prompt-on-repost",
  "--disable-renderer-backgrounding",
  "--disable-search-engine-choice-screen",
  "--disable-site-isolation-trials",
  "--disable-sync",
  "--enable-automation",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
  "--metrics-recording-only",
  "--mute-audio",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
  "--password-store=basic",
  "--use-mock-keychain",
  "--autoplay-policy=user-gesture-required",
  // Animated images show their first frame, so that the same page gives the same picture.
  "--blink-settings=imageAnimationPolicy=2",
  `--js-flags=--max-old-space-size=${CAPTURE_HEAP_MEBIBYTES_MAX}`,
];

/** Returns the browser's environment, without anything of the server's, which contains its secrets. */
function environment(folder: string): Record<string, string> {
  if (Deno.build.os === "windows") {
    const windows = "C:\\Windows";
    const path = `${windows}\\System32;${windows}`;
    return { SystemRoot: windows, PATH: path, TEMP: folder, TMP: folder, LOCALAPPDATA: folder };
  }
  return {
    HOME: folder,
    // The browser makes a socket in TMPDIR, whose path must be short.
    ...(folder.length <= TEMPORARY_FOLDER_LENGTH_MAX ? { TMPDIR: folder } : {}),
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: folder,
    PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin",
    LANG: "en_US.UTF-8",
    TZ: "UTC",
  };
}

/** One browser process. */
export class RunningBrowser {
  /** Pages opened so far, and those that are open now. */
  pages = 0;
  pagesOpen = 0;
  hasEnded = false;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  #browser: Browser | undefined;
  #stderr = "";
  #removed: Promise<void> = Promise.resolve();
  readonly #child: ReturnType<typeof spawn>;

  private constructor(path: string, noSandbox: boolean, profile: BrowserProfile) {
    const args = [...ARGUMENTS, ...(noSandbox ? ["--no-sandbox"] : [])];
    // Detached into a session of its own, so that an interrupt from the terminal reaches only the server.
    this.#child = spawn(path, [...args, `--user-data-dir=${profile.folder}`, "about:blank"], {
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
      env: environment(profile.folder),
      detached: Deno.build.os !== "windows",
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.#stderr = (this.#stderr + String(chunk)).slice(-STDERR_LENGTH_MAX);
    });
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.hasEnded = true;
        resolve();
      };
      this.#child.once("exit", end);
      this.#child.once("error", end);
    });
    // A browser usually ends with its pipe, but not if it hangs, as it may at its start.
    const endWithServer = () => this.#child.kill("SIGKILL");
    addEventListener("unload", endWithServer);
    this.ended.then(() => removeEventListener("unload", endWithServer));
  }

  /**
   * Starts the program at `path` with a profile, which is deleted when the browser ends.
   * Throws BrowserMissing if it cannot run here at all, BrowserEnded if it did not answer.
   */
  static async launch(
    path: string,
    noSandbox: boolean,
    profile: BrowserProfile,
  ): Promise<RunningBrowser> {
    const running = new RunningBrowser(path, noSandbox, profile);
    try {
      await within(CAPTURE_LAUNCH_MS_MAX, running.#connect(), "starting the browser");
    } catch (error) {
      await within(EXIT_MS_MAX, running.ended, "ending").catch(() => {});
      const hasExited = running.hasEnded;
      await running.kill();
      await profile.remove();
      if (hasExited) throw running.#refusal();
      throw new BrowserEnded(
        "The browser was started and did not answer: see whether it runs by hand on the server.",
        { cause: error },
      );
    }
    running.#removed = running.ended.then(() => profile.remove());
    return running;
  }

  async #connect(): Promise<void> {
    const [, , , out, incoming] = this.#child.stdio;
    this.#browser = await puppeteer.connect({
      transport: new PipeTransport(out as Writable, incoming as Readable),
      defaultViewport: null,
      protocolTimeout: CAPTURE_CALL_MS_MAX,
    });
  }

  #refusal(): BrowserMissing {
    const advice = Deno.uid() === 0
      ? "run Footfall as a user other than root"
      : "let it make user namespaces (Docker: by a seccomp profile)";
    return new BrowserMissing(
      /sandbox/i.test(this.#stderr)
        ? `The browser cannot use its sandbox here: ${advice}, or set CHROME_NO_SANDBOX=1.`
        : "The browser ended as soon as it was started: see whether it runs by hand on the server.",
      { cause: this.#stderr },
    );
  }

  get browser(): Browser {
    return this.#browser!;
  }

  /** Whether it can be used; its pipe may have closed before its process ends. */
  get isAlive(): boolean {
    return !this.hasEnded && this.browser.connected;
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Ends it, by force if necessary, and deletes its folder. Never throws. */
  async close(): Promise<void> {
    // The process ends after its reply, or when its pipe closes.
    if (!this.hasEnded) this.#browser?.close().catch(() => {});
    await within(CAPTURE_CLOSE_MS_MAX, this.ended, "closing the browser").catch(() => this.kill());
    await this.#removed;
  }

  /** Kills its main process; its other processes then end too. Never throws. */
  async kill(): Promise<void> {
    if (!this.hasEnded) this.#child.kill("SIGKILL");
    await within(CAPTURE_CLOSE_MS_MAX, this.ended, "killing the browser").catch(() => {});
  }
}
