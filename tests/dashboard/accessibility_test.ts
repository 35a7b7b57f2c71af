import assert from "node:assert/strict";
import { AxePuppeteer } from "@axe-core/puppeteer";
import type { Page } from "puppeteer-core";
import { dashboardWorld, FUNNEL } from "./page.ts";

const test = dashboardWorld();
const VIEWS = [
  "overview",
  "insights",
  "trends",
  "funnels",
  "retention",
  "goals",
  "heatmaps",
  "events",
  "settings",
];
/** A view as it is worth looking at. */
const QUERY: Readonly<Record<string, string>> = { funnels: `&funnel=${FUNNEL.slug}` };
const SIZES = [{ widthPx: 1440, heightPx: 900 }, { widthPx: 390, heightPx: 844 }];

/** What axe finds, but for what it calls minor or moderate. */
async function seriousFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxePuppeteer(page as never).analyze();
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) =>
        `${id} ${target.join(" ")}: ${failureSummary?.replace(/\s+/g, " ")}`
      )
    );
}

for (const scheme of ["light", "dark"] as const) {
  for (const view of VIEWS) {
    test(`accessible: ${view}, ${scheme}, wide and on a phone`, async (visit) => {
      const page = await visit.open(`view=${view}${QUERY[view] ?? ""}`, { scheme });
      for (const { widthPx, heightPx } of SIZES) {
        await page.setViewport({ width: widthPx, height: heightPx });
        await visit.settled(page);
        await visit.picture(page, `${view}-${scheme}-${widthPx}`);
        assert.deepEqual(await seriousFindings(page), []);
        const overflow = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert.equal(overflow, 0, `${view} is wider than ${widthPx} px by this many`);
      }
    });
  }
}

test("accessible: signing in, in both schemes", async (visit) => {
  for (const scheme of ["light", "dark"] as const) {
    const page = await visit.open("", { scheme, token: null });
    await visit.sees(page, "Sign in", "h1");
    await visit.picture(page, `sign-in-${scheme}`);
    assert.deepEqual(await seriousFindings(page), []);
  }
});
