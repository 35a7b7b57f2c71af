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

browserTest("a client beside others leaves the events of a refused key alone", async (visit) => {
  const { project, gate, world } = visit;
  const refused = "pk_that_never_existed_0002";
  const tag = `<script defer src="/analytics/sdk.js" data-api-key="${refused}"></script>`;
  const client = visit.module().replace("window.footfall =", "");
  visit.publish({ head: client + tag });
  const page = await visit.open();
  await page.evaluate(() => footfall.flush());
  assert.deepEqual(gate.posts.map(({ status }) => status), [401]);
  /** What a page that is gone has left behind. */
  const leave = (key: string, name: string) =>
    page.evaluate(
      (name, text) => localStorage.setItem(`footfall|event|${name}`, text),
      `${key}|${name}|id`,
      JSON.stringify({ eventId: crypto.randomUUID(), name }),
    );
  await leave(refused, "of the tag");
  await visit.open("/", page);
  await leave(project.publicKey, "own");
  await visit.until(() => gate.events(200).length > 0, "what was left is taken over");

  visit.publish({ head: client + visit.module({}, (await world.server.project()).publicKey) });
  await visit.open("/", page);
  await leave(project.publicKey, "own, too");
  await visit.until(() => gate.events(200).length > 1, "what was left is taken over");
  await page.evaluate(() => footfall.flush());
  await visit.arrived("own", "own, too");
});
