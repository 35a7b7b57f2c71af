import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { pause } from "../support/server_process.ts";
import type { Visit } from "./world.ts";

/** Has the browser make the published page `/next` ahead, sees that nothing is sent by it, and goes there. */
export async function shownAfterPrerendering(visit: Visit): Promise<Page> {
  visit.publish({
    head: `<script type="speculationrules">
      {"prerender": [{"source": "list", "urls": ["/next"], "eagerness": "immediate"}]}</script>`,
    body: `<a href="/next">next</a>`,
  });
  const page = await visit.newPage();
  await page.goto(`${visit.world.siteUrl}/`);
  await visit.until(() => visit.asked.includes("/next"), "the page is made ahead");
  await pause(1_500);
  assert.equal(visit.gate.posts.length, 0, "nothing is said while it is a guess");
  await Promise.all([page.waitForNavigation(), page.click("a")]);
  return page;
}
