import assert from "node:assert/strict";
import { AxePuppeteer } from "@axe-core/puppeteer";
import type { Page } from "puppeteer-core";

/** Fails where axe finds something, but for what it calls minor or moderate, or the page is too wide. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const { violations } = await new AxePuppeteer(page as never).analyze();
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
