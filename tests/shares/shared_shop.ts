import assert from "node:assert/strict";
import type { Json, Reply, TestApp, TestProject } from "../support/app.ts";

export const SITE = "https://shop.example";

export interface Visit {
  readonly who: string;
  readonly path?: string;
  readonly source?: string;
  readonly name?: string;
  readonly userId?: string;
  readonly properties?: Json;
}

const DAY_MS = 86_400_000;
/** Yesterday at noon, UTC: whatever the hour of the test, what happens then lies within one day. */
export const NOON_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;

/** Posts events until every one is counted: a share says of too few visitors nothing more, not even that. */
export async function postCounted(app: TestApp, project: TestProject, events: readonly Json[]) {
  const { status, body } = await app.post(project, [...events]);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.accepted, events.length);
  // Sent until nothing is pending.
  const { body: { pending } } = await app.admin("GET", `/v1/kpis?project=${project.id}`);
  assert.equal(pending, 0);
}

/** One event of each visit, from yesterday noon on. */
export async function post(app: TestApp, project: TestProject, visits: readonly Visit[]) {
  const events = visits.map(({ who, path = "/", source, name = "page_view", ...rest }, i) => ({
    eventId: crypto.randomUUID(),
    name,
    anonymousId: who,
    timestamp: new Date(NOON_MS + i).toISOString(),
    url: `${SITE}${path}${source === undefined ? "" : `?utm_source=${source}`}`,
    ...rest,
  }));
  await postCounted(app, project, events);
}

/** A share of a project, as its creation tells it. */
export async function share(app: TestApp, project: TestProject, wanted: Json = {}) {
  const path = `/v1/projects/${project.id}/shares`;
  const { status, body } = await app.admin("POST", path, { title: "Shop", ...wanted });
  assert.equal(status, 201, JSON.stringify(body));
  return body as { readonly id: string; readonly url: string };
}

/** What the page of a share asks for. */
export async function enter(app: TestApp, id: string, password?: string, peer?: string) {
  return await app.fetch(`/v1/shares/${id}/token`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ password }),
  }, peer);
}

/** The token of a share that has no password, or this one. */
export async function tokenOf(app: TestApp, id: string, password?: string): Promise<string> {
  const { status, body } = await enter(app, id, password);
  assert.equal(status, 200, JSON.stringify(body));
  return body.token;
}

/** A request with a token. */
export async function ask(app: TestApp, token: string, path: string): Promise<Reply> {
  return await app.fetch(path, { headers: { Authorization: `Bearer ${token}` } });
}

/** `GET /v1/<path>` with a token, parameters as JSON where they are no text. */
export async function read(
  app: TestApp,
  token: string,
  path: string,
  query: Json = {},
): Promise<Reply> {
  const texts = Object.entries(query)
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  return await ask(app, token, `/v1/${path}?${new URLSearchParams(texts as [string, string][])}`);
}

export const ALL_VIEWS = ["overview", "trends", "funnels", "retention", "goals", "heatmaps"];

export const people = (count: number, prefix = "p") =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Five come by the newsletter and see the prices, of whom four buy; one comes by a friend's page. */
export async function shop(app: TestApp): Promise<TestProject> {
  const project = await app.project({ siteUrl: SITE });
  const visits: Visit[] = people(5).flatMap((who) => [
    { who, path: "/", source: "newsletter" },
    { who, path: "/prices" },
  ]);
  visits.push(...people(4).map((who) => ({ who, name: "purchase", path: "/prices" })));
  visits.push({ who: "lonely", path: "/secret", source: "friend", userId: "anna@example.com" });
  await post(app, project, visits);
  return project;
}

/** A project, a share of it that shows all, and the share's token. */
export async function sharedShop(app: TestApp, wanted: Json = {}) {
  const project = await shop(app);
  const { id } = await share(app, project, { views: ALL_VIEWS, ...wanted });
  return { project, id, token: await tokenOf(app, id) };
}
