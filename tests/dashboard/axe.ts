import assert from "node:assert/strict";
import { AxePuppeteer } from "@axe-core/puppeteer";
import type { Page } from "puppeteer-core";
import type { Visit } from "./page.ts";

/** A wide screen, and a phone. */
export const SIZES = [{ width: 1440, height: 900 }, { width: 390, height: 844 }];

/** Fails where axe finds something, but for what it calls minor or moderate, or the page is too wide. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  // In the page itself, which takes a fifth less of a processor than in a second one, and looks into no frame.
  assert.equal(page.frames().length, 1, "frames would not be looked into");
  const { violations } = await new AxePuppeteer(page as never).setLegacyMode(true).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) =>
        `${id} ${target.join(" ")}: ${failureSummary?.replace(/\s+/g, " ")}`
      )
    );
  assert.deepEqual(serious, [], what);
  const overflow = await page.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  assert.equal(overflow, 0, `${what} is wider than its window by this many px`);
}

/** Sizes a page for a wide screen and for a phone; in both it leaves a picture and has to be accessible. */
export async function assertFits(visit: Visit, page: Page, name: string): Promise<void> {
  for (const size of SIZES) {
    await page.setViewport(size);
    await visit.settled(page);
    await visit.picture(page, `${name}-${size.width}`);
    await assertAccessible(page, `${name} at ${size.width}`);
  }
}
