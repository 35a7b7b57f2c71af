import type { HTTPRequest, Page } from "puppeteer-core";
import { until } from "../support/server_process.ts";
import { WAIT_MS_MAX } from "./own_browser.ts";

/** Whether the provider's page asks for this from elsewhere, where nobody is in tests. */
export function isFont(request: HTTPRequest): boolean {
  return new URL(request.url()).hostname === "fonts.googleapis.com";
}

/** Follows the link with this text. */
export async function follow(page: Page, text: string): Promise<void> {
  await page.locator(`a ::-p-text(${text})`).click();
}

/**
 * What a person does at the identity provider: signs in as `login`, and agrees where it asks. Ends
 * where it sends the browser: at `home`, an origin.
 */
export async function signInThere(page: Page, login: string, home: string): Promise<void> {
  await page.waitForSelector("input[name=login]");
  await page.type("input[name=login]", login);
  await page.type("input[name=password]", "any");
  await page.click("button[type=submit]");
  const isHome = () => Promise.resolve(new URL(page.url()).origin === home);
  const isAsked = () =>
    page.evaluate(`document.querySelector("input[name=prompt][value=consent]") !== null`)
      .then(Boolean, () => false);
  const isFurther = async () => await isHome() || await isAsked();
  await until(WAIT_MS_MAX, isFurther, "the provider asks to agree, or is done");
  if (await isHome()) return;
  await page.click("button[type=submit]");
  await until(WAIT_MS_MAX, isHome, "the provider sends the browser back");
}
