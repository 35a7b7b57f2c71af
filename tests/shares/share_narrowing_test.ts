import assert from "node:assert/strict";
import { assertProblem, type Json, sharedApp } from "../support/app.ts";
import { post, read, sharedShop } from "./shared_shop.ts";

const app = sharedApp();

Deno.test("share reads: the share's filters always hold, and a visitor's own only add to them", async () => {
  const filters = [{ field: "source", op: "is", values: ["newsletter"] }];
  const { token } = await sharedShop(app, { filters });
  const visitors = async (own: Json[]) => {
    const { status, body } = await read(app, token, "kpis", { filters: own });
    return status === 200 ? [body.totals.visitors, body.query.filters.length] : body.code;
  };
  assert.deepEqual(await visitors([]), [5, 1]);
  assert.deepEqual(await visitors([{ field: "source", op: "is_not", values: ["none"] }]), [5, 2]);
  assert.deepEqual(
    await visitors([{ field: "source", op: "is", values: ["friend"] }]),
    "too_few_visitors",
  );
});

Deno.test("share reads: nobody narrows it down to too few, and nobody and too few read alike", async () => {
  const { token } = await sharedShop(app);
  for (const path of ["kpis", "acquisition", "pages", "trends", "retention", "goals"]) {
    for (
      const own of [
        // One visitor; none; all but one, who would be told by the difference.
        [{ field: "path", op: "is", values: ["/secret"] }],
        [{ field: "path", op: "is", values: ["/nowhere"] }],
        [{ field: "path", op: "is_not", values: ["/secret"] }],
        [
          { field: "path", op: "starts_with", values: ["/"] },
          { field: "source", op: "is_not", values: ["friend"] },
        ],
      ]
    ) {
      const reply = await read(app, token, path, { filters: own });
      assertProblem(reply, 403, "too_few_visitors");
      assert.match(reply.body.detail, /fewer than 3 visitors/);
    }
  }
});

Deno.test("share reads: a comparison that would tell of too few is left out", async () => {
  const { token } = await sharedShop(app);
  const filters = [{ field: "source", op: "is_not", values: ["none"] }];
  const { status, body } = await read(app, token, "kpis", { filters, compare: "previous" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.totals.visitors, 6);
  assert.equal("previous" in body, false);
  // Nobody was there before: that is not told either.
  const whole = await read(app, token, "kpis", { compare: "previous" });
  assert.deepEqual([whole.status, "previous" in whole.body], [200, false]);
});

Deno.test("share reads: segments are not asked for, be they there or not", async () => {
  const { project, token } = await sharedShop(app);
  const buyers = { title: "Buyers", actors: { did: "purchase" } };
  await app.admin("PUT", `/v1/segments/buyers?project=${project.id}`, buyers);
  for (const path of ["kpis", "acquisition", "pages", "trends", "retention", "goals"]) {
    for (const slug of ["buyers", "none"]) {
      for (const query of [{ segment: slug }, { compare: `segment:${slug}` }]) {
        const reply = await read(app, token, path, query);
        assertProblem(reply, 400, "invalid_parameter");
        assert.deepEqual(reply.body.errors.map(({ field }: Json) => field), Object.keys(query));
        assert.match(reply.body.detail, /takes no segments/);
      }
    }
  }
  assertProblem(await read(app, token, "segments"), 403, "insufficient_scope");
  assertProblem(await read(app, token, "segments/buyers"), 403, "insufficient_scope");
});

Deno.test("share reads: what may name a person is not asked for", async () => {
  const { token } = await sharedShop(app);
  const refused: readonly (readonly [string, Json, string])[] = [
    ["kpis", { filters: [{ field: "userId", op: "exists" }] }, "filters"],
    ["kpis", { filters: [{ field: "anonymousId", op: "is", values: ["a"] }] }, "filters"],
    ["kpis", { filters: [{ field: "properties.email", op: "exists" }] }, "filters"],
    ["trends", { by: "userId" }, "by"],
    ["trends", { by: "properties.email" }, "by"],
    ["trends", { measure: "max:properties.value" }, "measure"],
    [
      "trends",
      { event: [{ name: "purchase", filters: [{ field: "path", op: "exists" }] }] },
      "filters",
    ],
    ["funnels", { steps: ["page_view"], by: "userId" }, "by"],
    [
      "funnels",
      { steps: [{ name: null, filters: [{ field: "userId", op: "exists" }] }] },
      "filters",
    ],
    ["retention", { start: { name: null, filters: [{ field: "path", op: "exists" }] } }, "filters"],
  ];
  for (const [path, query, field] of refused) {
    const reply = await read(app, token, path, query);
    assertProblem(reply, 400, "invalid_parameter");
    assert.equal(reply.body.errors[0].field, field, JSON.stringify(query));
  }
});

Deno.test("share reads: an event of too few people has no figures", async () => {
  const { project, token } = await sharedShop(app);
  await post(app, project, [{ who: "lonely", name: "confession" }]);
  for (
    const [path, query] of [
      ["trends", { event: "confession" }],
      ["trends", { event: ["page_view", "confession"] }],
      ["funnels", { steps: ["page_view", "confession"] }],
      ["retention", { return: "confession" }],
    ] as const
  ) {
    assertProblem(await read(app, token, path, query), 403, "too_few_visitors");
  }
  const { status, body } = await read(app, token, "trends", {
    event: "purchase",
    measure: "visitors",
    interval: "month",
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(
    body.series.reduce((sum: number, { value }: { value: number }) => sum + value, 0),
    4,
  );
});

Deno.test("share reads: no reply says which values there are", async () => {
  const { token } = await sharedShop(app);
  const filters = [{ field: "path", op: "is_not", values: ["/secrett"] }];
  const { status, body } = await read(app, token, "kpis", { filters });
  assert.equal(status, 200);
  assert.deepEqual(body.query.warnings, []);
  assert.doesNotMatch(JSON.stringify(body), /anna|\/secret"/);
});

Deno.test("share reads: saved funnels and goals that are of one person are not there", async () => {
  const { project, token } = await sharedShop(app, {});
  const anna = [{ field: "userId", op: "is", values: ["anna@example.com"] }];
  for (const [slug, filters] of [["of-anna", anna], ["of-all", []]] as const) {
    const match = { name: "page_view", filters };
    const goal = { title: slug, match };
    const funnel = { title: slug, steps: [match] };
    await app.admin("PUT", `/v1/goals/${slug}?project=${project.id}`, goal);
    await app.admin("PUT", `/v1/funnels/${slug}?project=${project.id}`, funnel);
  }
  const slugs = (list: Json[]) => list.map(({ slug }) => slug);
  const goals = (await read(app, token, "goals", { interval: "month" })).body;
  assert.deepEqual(slugs(goals.goals), ["of-all"]);
  assert.deepEqual(slugs((await read(app, token, "funnels")).body.funnels), ["of-all"]);
  assert.equal((await read(app, token, "funnels/of-all")).body.entered, 6);
  assertProblem(await read(app, token, "funnels/of-anna"), 404, "not_found");
  const byGoal = await read(app, token, "acquisition", { goal: "of-anna" });
  assertProblem(byGoal, 400, "invalid_parameter");
});
