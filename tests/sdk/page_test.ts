/// <reference lib="dom" />
import assert from "node:assert/strict";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

browserTest(
  "forms of the names of what a document says of itself: all is recorded",
  async (visit) => {
    for (const name of ["title", "referrer", "prerendering"]) {
      visit.publish({ path: `/${name}`, head: visit.tag(), body: `<form name="${name}"></form>` });
    }
    const page = await visit.open("/title");
    await page.evaluate(() => footfall.track("own"));
    await visit.open("/referrer", page);
    await visit.open("/prerendering", page);
    await page.evaluate(() => footfall.flush());
    const paths = async (name: string) =>
      (await visit.stored()).filter((event) => event.name === name).map(({ path }) => path);
    await visit.until(async () => (await paths("scroll")).length >= 2, "both views have ended");
    assert.deepEqual(await paths("own"), ["/title"]);
    assert.deepEqual((await paths("scroll")).toSorted(), ["/referrer", "/title"]);
    const views = await paths("page_view");
    assert.deepEqual(views.toSorted(), ["/prerendering", "/referrer", "/title"]);
    assert.deepEqual(visit.messages, []);
  },
);

browserTest("a page view's own path is that of all events until the next one", async (visit) => {
  visit.publish({ path: "/app", head: visit.tag(), body: "<button>A</button>" });
  const page = await visit.open("/app");
  await page.click("button");
  for (const route of ["/a", "/b"]) {
    await page.evaluate((path) => {
      location.hash = path;
      footfall.page({}, { path });
      footfall.track("own");
    }, route);
    await page.click("button");
  }
  await page.evaluate(() => history.pushState(null, "", "/plain"));
  await page.click("button");
  await page.evaluate(() => {
    footfall.page();
    return footfall.flush();
  });
  const paths = async (name: string) =>
    (await visit.stored()).filter((event) => event.name === name).map(({ path }) => path)
      .toSorted();
  await visit.until(async () => (await paths("page_view")).length === 5, "all are stored");
  assert.deepEqual(await paths("page_view"), ["/a", "/app", "/b", "/plain", "/plain"]);
  assert.deepEqual(await paths("click"), ["/a", "/app", "/b", "/plain"]);
  assert.deepEqual(await paths("scroll"), ["/a", "/app", "/b", "/plain"]);
  assert.deepEqual(await paths("own"), ["/a", "/b"]);
});
