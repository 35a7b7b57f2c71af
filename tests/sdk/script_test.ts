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

browserTest("page_view: a router of the Navigation API counts as any other", async (visit) => {
  visit.publish({ head: visit.tag() });
  const page = await visit.open("/");
  await page.evaluate(async () => {
    navigation.addEventListener("navigate", (event) => event.intercept());
    await navigation.navigate("/two").finished;
    await navigation.navigate("/two?filter=1", { history: "replace" }).finished;
    await navigation.navigate("/two?filter=1#part").finished;
    await navigation.navigate("/three").finished;
    await navigation.back().finished;
    history.pushState({}, "", "/four");
    await footfall.flush();
  });
  const views = visit.gate.events(200).filter(({ name }) => name === "page_view");
  const paths = views.map(({ url }) => url.slice(visit.world.siteUrl.length));
  assert.deepEqual(paths, ["/", "/two", "/three", "/two?filter=1#part", "/four"]);
});
