/// <reference lib="dom" />
import assert from "node:assert/strict";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

browserTest("tags of two projects on a page: each records for its own", async (visit) => {
  const other = await visit.world.server.project();
  const source = `${visit.world.siteUrl}/analytics/sdk.js`;
  visit.publish({
    head: visit.tag() + `<script defer src="${source}" data-api-key="${other.publicKey}"></script>`,
  });
  const page = await visit.open();
  await page.evaluate(() => footfall.track("own"));
  await page.goto("about:blank");
  const names = async (project: typeof other) =>
    (await visit.world.server.stored(project)).map(({ name }) => name).toSorted();
  const all = async () => [await names(visit.project), await names(other)];
  await visit.until(async () => (await all()).flat().length > 4, "all of it is stored");
  assert.deepEqual(await all(), [["own", "page_view", "scroll"], ["page_view", "scroll"]]);
});
