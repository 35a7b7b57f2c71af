import assert from "node:assert/strict";
import axeSource from "axe-core/axe.min.js" with { type: "text" };
import type { AxeResults } from "axe-core";
import type { Page } from "puppeteer-core";
import type { Visit } from "./page.ts";

/** A wide screen, and a phone. */
export const SIZES = [{ width: 1440, height: 900 }, { width: 390, height: 844 }];
/**
 * Rows and items past the first are like those before them, and looking at each is most of a run. Nobody looks at
 * what passes: telling of it is a third of a run.
 */
const RUN = `axe.run(
  { exclude: [["tbody > tr:nth-child(n+7)"], ["li:nth-child(n+13)"]] },
  { resultTypes: ["violations"] },
)`;

/** Fails where axe finds something, but for what it calls minor or moderate, or the page is too wide. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  assert.equal(page.frames().length, 1, "frames would not be looked into");
  // A document is given axe once: reading it takes as long as some runs.
  if (!await page.evaluate(`"axe" in globalThis`)) await page.evaluate(axeSource);
  const { violations } = await page.evaluate(RUN) as AxeResults;
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
