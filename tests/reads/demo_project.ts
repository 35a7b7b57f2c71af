import assert from "node:assert/strict";
import { forEachInFlight } from "../../src/cli/event_sender.ts";
import { type DemoBatch, demoEvents } from "../../src/demo/visitors/demo_events.ts";
import { SHOP_NAME, SHOP_TIMEZONE } from "../../src/demo/shop.ts";
import type { DemoEvent } from "../../src/demo/visitors/visit.ts";
import { type Json, TestApp, type TestProject } from "../support/app.ts";

const PROJECT = "prj_demo";
const REQUESTS_AT_ONCE = 8;

/** Three whole weeks of the shop's calendar, Monday 25 May to Sunday 14 June 2026. */
export const DEMO_DAYS = { from: "2026-05-25", to: "2026-06-14" };
const DEMO = demoEvents({
  seed: 1,
  weeks: 3,
  visitors: 150,
  untilMs: Date.parse("2026-06-14T22:00:00Z") - 1,
  origin: "https://shop.example",
});
const BATCHES: readonly DemoBatch[] = [...DEMO.batches()];
const SENT: readonly DemoEvent[] = BATCHES.flatMap(({ events }) => events);
/** What people did, less what pages measured. Crawlers send no id, and are left out. */
export const DEMO_EVENTS = SENT.filter(({ anonymousId, name }) =>
  anonymousId !== undefined && !name.startsWith("$")
);
export const CRAWLED_EVENTS = SENT.filter(({ anonymousId }) => anonymousId === undefined).length;

export const PURCHASE_GOAL = {
  title: "Purchase",
  match: { name: "purchase" },
  value: { property: "value", currency: "EUR" },
};
export const ACCOUNT_GOAL = {
  title: "Account by a phone",
  match: { name: "sign_up", filters: [{ field: "device", op: "is", values: ["mobile"] }] },
  value: { fixed: 2.5, currency: "EUR" },
};
export const CHECKOUT_STEPS = [
  { name: "view_product" },
  { name: "add_to_cart", label: "Into the cart" },
  { name: "begin_checkout" },
  { name: "purchase" },
];
export const CHECKOUT_FUNNEL = { title: "Checkout", steps: CHECKOUT_STEPS, window: "1h" };

/** A server with the demo project; reads are asked as an operator. */
export interface DemoProject {
  /** The reply to `GET /v1/<path>`; members that are not texts are encoded as JSON. */
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
  read(path: string, query: Json): Promise<any>;
  readonly server: TestApp;
  stop(): Promise<void>;
}

async function send(
  server: TestApp,
  project: TestProject,
  { address, userAgent, events }: DemoBatch,
): Promise<void> {
  const options = { peer: address, headers: { "User-Agent": userAgent } };
  const { status, body } = await server.post(project, [...events], options);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body, { accepted: events.length, duplicates: 0, rejected: [] });
}

async function save(server: TestApp, path: string, definition: Json): Promise<void> {
  const { status, body } = await server.admin("PUT", `${path}?project=${PROJECT}`, definition);
  assert.equal(status, 201, JSON.stringify(body));
}

/** Who came back within the range, and bought nothing in the last two weeks of it. */
const BACK_WITHOUT_BUYING = {
  title: "Back without buying",
  actors: {
    all: [
      { did: { name: "page_view" }, atLeast: 3 },
      { not: { goal: "purchase", within: "14d" } },
    ],
  },
};

/** How events come into a project. */
export type Fill = (server: TestApp, project: TestProject) => Promise<void>;

/** As browsers send them. */
const asBrowsersDo: Fill = (server, project) =>
  forEachInFlight(BATCHES, REQUESTS_AT_ONCE, (batch) => send(server, project, batch));

/** Makes the demo project with its events, its goals and its funnel. */
export async function fillDemoProject(server: TestApp, fill = asBrowsersDo): Promise<void> {
  const project = await server.project({ id: PROJECT, name: SHOP_NAME, timezone: SHOP_TIMEZONE });
  await fill(server, project);
  await save(server, "/v1/goals/purchase", PURCHASE_GOAL);
  await save(server, "/v1/goals/mobile-account", ACCOUNT_GOAL);
  await save(server, "/v1/funnels/checkout", CHECKOUT_FUNNEL);
  await save(server, "/v1/segments/back-without-buying", BACK_WITHOUT_BUYING);
}

function searchOf(query: Json): string {
  const texts = Object.entries({ project: PROJECT, ...query }).map(([name, value]) =>
    [name, typeof value === "string" ? value : JSON.stringify(value)] as const
  );
  return new URLSearchParams(texts.map(([name, value]) => [name, value])).toString();
}

/** Starts a server on an empty database with the demo shop's events; by default as browsers send them. */
export async function startDemoProject(
  env: Record<string, string>,
  fill: Fill = asBrowsersDo,
): Promise<DemoProject> {
  const server = new TestApp(env);
  await server.start();
  await fillDemoProject(server, fill);
  return demoProjectOf(server);
}

/** The demo project of a server that has it, under its own id or another one. */
export function demoProjectOf(server: TestApp, project = PROJECT): DemoProject {
  return {
    server,
    async read(path, query) {
      const search = searchOf({ project, ...query });
      const { status, body } = await server.admin("GET", `/v1/${path}?${search}`);
      assert.equal(status, 200, `${path} ${JSON.stringify(query)}: ${JSON.stringify(body)}`);
      return body;
    },
    stop: () => server.stop(),
  };
}
