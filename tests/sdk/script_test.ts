/// <reference lib="dom" />
import assert from "node:assert/strict";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

browserTest("of two tags on a page, at whatever address, the first one records", async (visit) => {
  const other = await visit.world.server.project();
  const { siteUrl, collectorUrl } = visit.world;
  const tags = [visit.tag(), visit.tag("", `${collectorUrl}/sdk.js`)];
  const source = `${siteUrl}/analytics/sdk.js`;
  tags.push(`<script defer src="${source}" data-api-key="${other.publicKey}"></script>`);
  visit.publish({ head: tags.join("") });
  const page = await visit.open();
  await page.evaluate(() => footfall.track("own"));
  await page.goto("about:blank");
  const names = async (project: typeof other) =>
    (await visit.world.server.stored(project)).map(({ name }) => name).toSorted();
  await visit.until(async () => (await names(visit.project)).length > 2, "all of it is stored");
  assert.deepEqual(await names(visit.project), ["own", "page_view", "scroll"]);
  assert.deepEqual(await names(other), []);
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

for (const file of ["sdk.js", "script.js"]) {
  browserTest(`${file}: an element whose id is footfall stands in nobody's way`, async (visit) => {
    const source = `${visit.world.siteUrl}/analytics/${file}`;
    visit.publish({ head: visit.tag("", source), body: '<p id="footfall">Footfall</p>' });
    const page = await visit.open();
    await page.evaluate(() => {
      footfall.track("own");
      return footfall.flush();
    });
    await visit.arrived("page_view", "own");
  });
}
