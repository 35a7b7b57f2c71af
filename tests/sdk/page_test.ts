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
