import type { Browser, Page } from "puppeteer-core";
import { until } from "../support/server_process.ts";
import { launchChromium } from "../support/chromium.ts";

export const WAIT_MS_MAX = 60_000;

/**
 * A browser of the test's own, until `work` is done. `profile`: the folder in which it keeps what is
 * there when it is opened again; absent: it keeps nothing.
 */
export async function withBrowser<T>(
  work: (browser: Browser) => Promise<T>,
  profile?: string,
): Promise<T> {
  const browser = await launchChromium({
    acceptInsecureCerts: true,
    ...(profile === undefined ? {} : { userDataDir: profile }),
  });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/** A page of a desktop's size. */
export async function openPage(of: Pick<Browser, "newPage">, address: string): Promise<Page> {
  const page = await of.newPage();
  page.setDefaultTimeout(WAIT_MS_MAX);
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(address);
  return page;
}

/** Waits until a person sees `wanted`, in a page or in a frame of one. */
export async function sees(
  page: Pick<Page, "evaluate">,
  wanted: string,
  selector = "body",
): Promise<void> {
  const look = `[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((each) => each.innerText).join("\\n").replace(/\\s+/g, " ")`;
  let seen = "";
  await until(WAIT_MS_MAX, async () => {
    seen = String(await page.evaluate(look).catch(() => ""));
    return seen.includes(wanted);
  }, `"${wanted}" is seen`).catch((error) => {
    throw new Error(`${error.message}; there is: ${seen.slice(0, 2_000)}`);
  });
}
