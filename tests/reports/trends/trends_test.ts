import assert from "node:assert/strict";
import type { EventRow } from "../../../src/store/event_row.ts";
import { Problem } from "../../../src/problem.ts";
import { onBothEngines } from "../../support/databases.ts";
import { event, type Line, linesOf, openTrends, valuesOf } from "./trend_world.ts";

const BUYS: readonly EventRow[] = [
  event("ann", "02 10:00", "page_view", null, { path: "/sale", utm_source: "news" }),
  event("ann", "02 10:01", "buy", { price: 10, plan: "pro" }, { country: "DE" }),
  event("ann", "02 10:02", "buy", { price: 25.5, plan: "basic" }, { country: "DE" }),
  event("bob", "02 10:00", "buy", { price: 0.1, plan: "pro" }, { country: "US" }),
  event("bob", "02 10:03", "buy", { price: 0.2, plan: null }, { country: "US" }),
  // Not numbers: text, nothing, null.
  event("cid", "02 12:00", "buy", { price: "99", plan: "pro" }),
  event("cid", "04 12:00", "buy", null, { country: "DE" }),
  event("cid", "04 12:01", "buy", { price: null }),
  event("dot", "02 12:00", "buy", { price: 1000 }, { bot: true }),
  // Before and after the range.
  event("ann", "01 23:59:59.999", "buy", { price: 1000 }),
  event("ann", "05 00:00", "buy", { price: 1000 }),
  { ...event("ann", "02 11:00", "buy", { price: 1000 }), project_id: 2 },
  event("eve", "03 10:00", "scroll", null, { depth_px: 700 }),
  event("eve", "03 10:01", "scroll", null, { depth_px: 300 }),
];

/** 30 values of a property, the first of them with 30 events, the last with one; each by two actors in turn. */
const TAGGED: readonly EventRow[] = Array.from(
  { length: 30 },
  (_, i) =>
    Array.from(
      { length: 30 - i },
      (_, n) =>
        event(`tag${n % 2}`, `03 ${String(12 + n % 3)}:${String(i + 10)}:00.${100 + n}`, "tag", {
          tag: `t${String(i).padStart(2, "0")}`,
          weight: 100 * i + n,
        }),
    ),
).flat();

onBothEngines("GET /v1/trends", async (t, db) => {
  const ask = await openTrends(db, [...BUYS, ...TAGGED]);
  const measured = async (measure: string) =>
    valuesOf((await ask({ event: "buy", measure })).series);

  await t.step("buckets of one event, empty ones too", async () => {
    assert.deepEqual(await ask({ event: "buy" }), {
      event: [{ name: "buy", filters: [] }],
      measure: "total",
      by: null,
      series: [
        { start: "2026-03-02T00:00:00.000Z", label: "2026-03-02", complete: true, value: 5 },
        { start: "2026-03-03T00:00:00.000Z", label: "2026-03-03", complete: true, value: 0 },
        { start: "2026-03-04T00:00:00.000Z", label: "2026-03-04", complete: false, value: 2 },
      ],
    });
  });

  await t.step("every measure", async () => {
    assert.deepEqual(await measured("total"), [5, 0, 2]);
    assert.deepEqual(await measured("visitors"), [3, 0, 1]);
    assert.deepEqual(await measured("perVisitor"), [5 / 3, null, 2]);
    // 0.1 and 0.2 add up without a binary remainder.
    assert.deepEqual(await measured("sum:properties.price"), [35.8, 0, 0]);
    assert.deepEqual(await measured("avg:properties.price"), [8.95, null, null]);
    assert.deepEqual(await measured("min:properties.price"), [0.1, null, null]);
    assert.deepEqual(await measured("max:properties.price"), [25.5, null, null]);
    // Of 0.1, 0.2, 10 and 25.5: half way, and 0.7 of the way from the third to the fourth.
    for (const [measure, expected] of [["p50", 5.1], ["p90", 20.85]] as const) {
      const [value, ...others] = await measured(`${measure}:properties.price`);
      assert.ok(Math.abs(value! - expected) < 1e-9, `${measure}: ${value}`);
      assert.deepEqual(others, [null, null]);
    }
    assert.deepEqual(await measured("sum:properties.none"), [0, 0, 0]);
  });

  await t.step("a property with a column of its own", async () => {
    const { series } = await ask({ event: "scroll", measure: "max:properties.depthPx" });
    assert.deepEqual(valuesOf(series), [null, 700, null]);
  });

  await t.step("any event is the default", async () => {
    const reply = await ask({ measure: "visitors" });
    assert.deepEqual(valuesOf(reply.series), [3, 3, 1]);
    assert.deepEqual(reply.event, [{ name: null, filters: [] }]);
  });

  await t.step("an unknown event, with by as well", async () => {
    assert.deepEqual(valuesOf((await ask({ event: "none" })).series), [0, 0, 0]);
    assert.deepEqual((await ask({ event: "none", by: "country" })).series, []);
  });

  await t.step(
    "several events: a line each, by label or name, those that never happen too",
    async () => {
      const german = [{ field: "country", op: "is", values: ["DE"] }];
      const event = JSON.stringify([
        "buy",
        { name: "buy", filters: german, label: "Germany" },
        "none",
        { name: null },
      ]);
      assert.deepEqual(linesOf((await ask({ event })).series), [
        ["buy", null, [5, 0, 2]],
        ["Germany", null, [2, 0, 1]],
        ["none", null, [0, 0, 0]],
        [null, null, [6, TAGGED.length + 2, 2]],
      ]);
      const one = await ask({ event: JSON.stringify({ name: "buy", filters: german }) });
      assert.deepEqual(valuesOf(one.series), [2, 0, 1]);
      assert.deepEqual(valuesOf((await ask({ event: '["buy"]' })).series), [5, 0, 2]);
    },
  );

  await t.step("shared filters narrow all of it", async () => {
    const filters = JSON.stringify([{ field: "country", op: "is", values: ["DE"] }]);
    assert.deepEqual(valuesOf((await ask({ event: "buy", filters })).series), [2, 0, 1]);
    assert.deepEqual(valuesOf((await ask({ filters })).series), [2, 0, 1]);
  });

  await t.step(
    "by: most events first, ties by value, the missing value last of its equals",
    async () => {
      const byCountry = await ask({ event: "buy", by: "country", measure: "visitors" });
      assert.deepEqual(linesOf(byCountry.series), [
        ["buy", "DE", [1, 0, 1]],
        ["buy", "US", [1, 0, 0]],
        ["buy", null, [1, 0, 1]],
      ]);
      assert.equal(byCountry.by, "country");
      const byPlan = await ask({
        event: "buy",
        by: "properties.plan",
        measure: "sum:properties.price",
      });
      assert.deepEqual(linesOf(byPlan.series), [
        ["buy", "pro", [10.1, 0, 0]],
        ["buy", null, [0.2, 0, 0]],
        ["buy", "basic", [25.5, 0, 0]],
      ]);
    },
  );

  await t.step("by a field of the session; events without one have none", async () => {
    const { series } = await ask({ event: "buy", by: "source" });
    assert.deepEqual(linesOf(series), [
      ["buy", null, [3, 0, 2]],
      ["buy", "news", [2, 0, 0]],
    ]);
  });

  await t.step(
    "by with several events: values ranked over all, an event counted once",
    async () => {
      const event = JSON.stringify([
        { name: "buy", filters: [{ field: "country", op: "is", values: ["US"] }] },
        { name: "buy", label: "all" },
      ]);
      const { series } = await ask({ event, by: "country" });
      assert.deepEqual(linesOf(series), [
        ["buy", "US", [2, 0, 0]],
        ["all", "DE", [2, 0, 1]],
        ["all", "US", [2, 0, 0]],
        ["all", null, [1, 0, 1]],
      ]);
      const names = await ask({ event: '["buy","scroll"]', by: "name" });
      assert.deepEqual(linesOf(names.series), [
        ["buy", "buy", [5, 0, 2]],
        ["scroll", "scroll", [0, 2, 0]],
      ]);
    },
  );

  await t.step("by: 25 values, and exactly all else as $other", async () => {
    const ofMeasure = async (measure: string) => {
      const { series } = await ask({ event: "tag", by: "properties.tag", measure });
      return series.map(({ value, points }: Line) => [value, points[1]!.value]);
    };
    const totals = await ofMeasure("total");
    assert.deepEqual(
      totals.slice(0, 25),
      Array.from({ length: 25 }, (_, i) => [`t${String(i).padStart(2, "0")}`, 30 - i]),
    );
    // Five values with 5, 4, 3, 2 and 1 events by two actors.
    assert.deepEqual(totals.slice(25), [["$other", 15]]);
    assert.deepEqual((await ofMeasure("visitors")).at(-1), ["$other", 2]);
    assert.deepEqual((await ofMeasure("perVisitor")).at(-1), ["$other", 7.5]);
    // 2500–2504, 2600–2603, 2700–2702, 2800, 2801 and 2900: the eighth of fifteen.
    assert.deepEqual((await ofMeasure("p50:properties.weight")).at(-1), ["$other", 2602]);
  });

  await t.step("a value without numbers keeps its line", async () => {
    const { series } = await ask({
      event: "buy",
      by: "country",
      measure: "avg:properties.price",
    });
    assert.deepEqual(linesOf(series), [
      ["buy", "DE", [17.75, null, null]],
      ["buy", "US", [0.15, null, null]],
      ["buy", null, [null, null, null]],
    ]);
  });

  await t.step("a name may begin as a list does", async () => {
    const { event } = await ask({ event: "[GA4] purchase" });
    assert.deepEqual(event, [{ name: "[GA4] purchase", filters: [] }]);
  });

  await t.step("what is resolved can be asked again", async () => {
    const first = await ask({ event: "buy", by: "country", measure: "avg:properties.price" });
    const { event, measure, by } = first;
    assert.deepEqual(await ask({ event: JSON.stringify(event), measure, by }), first);
  });

  await t.step("bad parameters are 400, naming them", async () => {
    const eleven = JSON.stringify(Array.from({ length: 11 }, () => "buy"));
    const cases: [string, string][] = [
      ["event", "[]"],
      ["event", eleven],
      ["event", "[1]"],
      ["event", '["buy"'],
      ["event", "[buy, scroll]"],
      ["event", '{"name":"buy","filter":[]}'],
      ["event", '[{"name":"buy","filters":[{"field":"nonsense","op":"is","values":["x"]}]}]'],
      ["event", "x".repeat(201)],
      ["measure", "count"],
      ["measure", "sum"],
      ["measure", "sum:price"],
      ["measure", "sum:path"],
      ["measure", "sum:properties."],
      ["measure", `sum:properties.${"x".repeat(201)}`],
      ["measure", "total:properties.price"],
      ["measure", "p95:properties.price"],
      ["by", "nonsense"],
      ["by", "properties."],
    ];
    for (const [name, value] of cases) {
      await assert.rejects(ask({ [name]: value }), (error) => {
        assert.ok(error instanceof Problem, `${name}=${value}: ${error}`);
        assert.equal(error.code, "invalid_parameter");
        assert.deepEqual(error.options.errors?.map(({ field }) => field), [name]);
        return true;
      });
    }
    await assert.rejects(ask({ event: "[]", by: "nonsense" }), (error) => {
      assert.ok(error instanceof Problem);
      assert.deepEqual(error.options.errors?.map(({ field }) => field), ["event", "by"]);
      return true;
    });
  });

  await t.step("too many points are refused", async () => {
    const parameters = { from: "2026-01-01", to: "2026-02-28", interval: "hour" };
    const event = JSON.stringify(Array.from({ length: 10 }, (_, i) => `event ${i}`));
    await assert.rejects(
      ask({ ...parameters, event, by: "country" }),
      (error) => error instanceof Problem && error.code === "range_too_large",
    );
    assert.equal((await ask({ ...parameters, event })).series.length, 10);
  });
});
