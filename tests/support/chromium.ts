/** The browser of tests, which must be real: one way to start it. */
import puppeteer, { type Browser, type LaunchOptions } from "puppeteer-core";

export const CHROMIUM = Deno.env.get("CHROME_PATH") || "/usr/bin/chromium";

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

/** Starts a browser without a window; the caller closes it. `args` are added to those of all tests. */
export function launchChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  return puppeteer.launch({
    executablePath: CHROMIUM,
    headless: true,
    pipe: true,
    ...options,
    args: [...ARGUMENTS, ...args],
  });
}
