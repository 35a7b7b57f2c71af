/** The browser of tests, which must be real: one way to start it. */
import { existsSync } from "node:fs";
import puppeteer, { type Browser, type LaunchOptions } from "puppeteer-core";

/** The browser that is asked for, whatever else there is. */
const NAMED = Deno.env.get("CHROME_PATH") || null;
const CHROMIUM = "/usr/bin/chromium";
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";
/**
 * The same without windows, tabs and toolbars, which Chromium draws as pages of its own: a context with a page
 * takes 0.05 s of a processor in place of 0.25. Debian has it as a package. Null: there is none, or another browser
 * is asked for.
 */
export const WINDOWLESS = NAMED === null && existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : null;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--no-first-run",
  // Neither a process to draw in, nor one that is kept ready for a next page: a tenth of what a page takes of
  // the processor, and each test opens one in a new context.
  "--in-process-gpu",
  "--disable-features=SpareRendererForSitePerProcess",
];

interface ChromiumOptions extends LaunchOptions {
  /** Whether it must be the whole browser, with a cache of pages to go back to, say. */
  readonly isWhole?: boolean;
}

/**
 * Starts a browser that shows nothing; the caller closes it. `args` are added to those of all tests. One that ends
 * while it starts, as one did on a busy machine, is started once more: all tests of a file need it.
 */
export function launchChromium(
  { args = [], isWhole = false, ...options }: ChromiumOptions = {},
): Promise<Browser> {
  const windowless = isWhole ? null : WINDOWLESS;
  const launch = () =>
    puppeteer.launch({
      executablePath: windowless ?? NAMED ?? CHROMIUM,
      headless: windowless === null ? true : "shell",
      pipe: true,
      ...options,
      args: [...ARGUMENTS, ...args],
    });
  return launch().catch(launch);
}
