import assert from "node:assert/strict";
import { HEATMAP_ELEMENTS_MAX } from "../../../src/limits.ts";
import { assertProblem, newEvent, TestApp } from "../../support/app.ts";
import { onFreshEngines } from "../../support/databases.ts";

const click = (anonymousId: string, properties: Record<string, unknown>, path = "/") =>
  newEvent({ name: "click", anonymousId, path, properties: { x: 0.5, y: 10, ...properties } });

/** A selector that its column does not hold, which is for click and scroll alone. */
const EVENTS = [
  click("ann", { selector: "a.buy", rage: true }),
  click("ann", { selector: "a.buy", rage: true }),
  click("bob", { selector: "a.buy" }),
  click("ann", { selector: "#menu" }),
  click("bob", { selector: "#menu" }),
  click("cid", { selector: "#menu", x: null, y: null, rage: true }),
  click("ann", { selector: "b" }),
  click("ann", { selector: "B" }),
  click("ann", { selector: 7 }),
  // Without a selector, on a phone, on another page, and no click.
  click("ann", {}),
  click("ann", { selector: "a.buy", viewportWidth: 390 }),
  click("ann", { selector: "a.buy" }, "/other"),
  newEvent({ name: "press", anonymousId: "ann", path: "/", properties: { selector: "a.buy" } }),
];

onFreshEngines("heatmaps: the most clicked elements, by selector", async (t, db) => {
  const app = await new TestApp(db.env).start();
  const project = await app.project();
  await app.post(project, EVENTS);
  const read = (query: Record<string, string>) =>
    app.admin(
      "GET",
      `/v1/heatmaps?${new URLSearchParams({ project: project.id, path: "/", ...query })}`,
    );
  const elementsOf = async (query: Record<string, string>) => {
    const { status, body } = await read(query);
    assert.equal(status, 200, JSON.stringify(body));
    return body.elements?.map((one: Record<string, unknown>) => Object.values(one));
  };
  try {
    await t.step("most clicks first, then most visitors", async () => {
      assert.deepEqual(await elementsOf({ elements: "10" }), [
        ["#menu", 3, 3],
        ["a.buy", 3, 2],
        ["7", 1, 1],
        ["B", 1, 1],
        ["b", 1, 1],
      ]);
      assert.deepEqual(await elementsOf({ elements: "2" }), [["#menu", 3, 3], ["a.buy", 3, 2]]);
    });
    await t.step(
      "of the kind, the device, the pages and the filters that are asked for",
      async () => {
        const some = { elements: "1" };
        assert.deepEqual(await elementsOf({ ...some, kind: "rage" }), [["a.buy", 2, 1]]);
        assert.deepEqual(await elementsOf({ ...some, kind: "scroll" }), []);
        assert.deepEqual(await elementsOf({ ...some, device: "mobile" }), [["a.buy", 1, 1]]);
        assert.deepEqual(await elementsOf({ ...some, path: "", pattern: "/*" }), [["a.buy", 4, 2]]);
        const filters = JSON.stringify([
          { field: "properties.selector", op: "is", values: ["b"] },
          { field: "channel", op: "is", values: ["Direct"] },
        ]);
        assert.deepEqual(await elementsOf({ ...some, filters }), [["b", 1, 1]]);
      },
    );
    await t.step("only where asked for, within the limit", async () => {
      assert.equal(await elementsOf({}), undefined);
      assert.equal(await elementsOf({ elements: "0" }), undefined);
      assert.equal((await elementsOf({ elements: String(HEATMAP_ELEMENTS_MAX) })).length, 5);
      for (const elements of [String(HEATMAP_ELEMENTS_MAX + 1), "-1", "1.5", "all"]) {
        assertProblem(await read({ elements }), 400, "invalid_parameter");
      }
    });
  } finally {
    await app.stop();
  }
});
