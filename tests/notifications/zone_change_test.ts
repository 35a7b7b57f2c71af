import assert from "node:assert/strict";
import { PeopleApp } from "../support/people_database.ts";

const people = new PeopleApp();
Deno.test.beforeAll(() => people.start());
Deno.test.afterAll(() => people.stop());

const DUE = "2020-01-01T00:00:00.000Z";

Deno.test("digests: one that is due stays due when its project's zone changes", async () => {
  const { id } = await people.app.project({ name: "Shop", timezone: "UTC" });
  const ask = (method: string, slug: string, body?: unknown) =>
    people.app.admin(method, `/v1/digests${slug}?project=${id}`, body);
  const saved = await ask("PUT", "/day", { title: "The day", every: "daily", to: [] });
  assert.equal(saved.status, 201, JSON.stringify(saved.body));
  await people.sql.query("UPDATE digests SET due_at = $1::text::timestamptz", [DUE]);
  await people.app.admin("PATCH", `/v1/projects/${id}`, { timezone: "Pacific/Auckland" });
  assert.equal((await ask("GET", "")).body.digests[0].nextAt, DUE);
});
