import assert from "node:assert/strict";
import { type Json, newEvent, sharedApp, type TestProject } from "../../support/app.ts";

const app = sharedApp();

interface Group {
  readonly value: string | null;
  readonly entered: number;
  readonly converted: number;
}

const RANGE = { from: "2026-03-01", to: "2026-03-03" };
const FUNNEL = { steps: ["page_view", "buy"], by: "properties.plan" };

/** Asks a read over the range. */
async function ask(own: TestProject, path: string, params: Json): Promise<Json> {
  const texts = Object.entries({ project: own.id, ...RANGE, ...params })
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  const { status, body } = await app.admin("GET", `${path}?${new URLSearchParams(texts)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Lists the people behind a number of the funnel. */
async function behind(own: TestProject, place: Json): Promise<{ people: string[]; total: number }> {
  const { rows, total } = await ask(own, "/v1/actors", {
    of: { read: "funnels", ...FUNNEL, place },
  });
  return { people: (rows as Json[]).map(({ actor }) => String(actor)), total: Number(total) };
}

/** Person n sees a page of plan n, or of no plan, and buys if n is even; the first two plans have two people. */
const EVENTS = Array.from({ length: 30 }, (_, n) => n).flatMap((n) =>
  (n < 2 ? ["a", "b"] : ["a"]).flatMap((which) => {
    const anonymousId = `p${n}${which}`;
    const properties = n === 29 ? {} : { plan: n % 3 === 0 ? n : `plan ${n}` };
    const view = newEvent({
      anonymousId,
      name: "page_view",
      properties,
      timestamp: "2026-03-02T10:00:00Z",
    });
    const buy = newEvent({ anonymousId, name: "buy", timestamp: "2026-03-02T10:01:00Z" });
    return n % 2 === 0 ? [view, buy] : [view];
  })
);

Deno.test("people of a funnel's number: those of $other have none of the listed values", async () => {
  const own = await app.project();
  assert.equal((await app.post(own, EVENTS)).status, 200);
  const groups = (await ask(own, "/v1/funnels", FUNNEL)).groups as Group[];
  assert.deepEqual([groups.length, groups.at(-1)!.value], [26, "$other"]);
  const listed = new Set<string>();
  for (const { value, entered } of groups) {
    const { people, total } = await behind(own, { step: 1, value });
    assert.equal(total, entered, `${value}`);
    for (const person of people) listed.add(person);
  }
  assert.equal(listed.size, 32);
  const { value, entered, converted } = groups.at(-1)!;
  assert.equal((await behind(own, { step: 2, value })).total, converted);
  assert.equal((await behind(own, { lost: 2, value })).total, entered - converted);
});

Deno.test("people of a funnel's number: $other is a value like others if every group is listed", async () => {
  const own = await app.project();
  const event = (anonymousId: string, plan: string) =>
    newEvent({
      anonymousId,
      name: "page_view",
      properties: { plan },
      timestamp: "2026-03-02T10:00:00Z",
    });
  assert.equal((await app.post(own, [event("a", "$other"), event("b", "free")])).status, 200);
  assert.deepEqual((await behind(own, { step: 1, value: "$other" })).people, ["a"]);
});
