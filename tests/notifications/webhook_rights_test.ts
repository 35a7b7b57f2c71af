import assert from "node:assert/strict";
import { assertProblem } from "../support/app.ts";
import { sharedPeopleApp } from "../support/people_database.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const people = sharedPeopleApp({ READ_TIMEOUT_MS: "120000" });
const digest = (projects: string[], more = {}) => ({
  ...{ title: "All shops", every: "daily", webhooks: ["team"], projects },
  ...more,
});

/** A digest of two projects, in the first one, that goes to the webhook `team` at the receiver. */
async function twoShops(url: string) {
  const [mine, other] = [await people.app.project(), await people.app.project()];
  const at = (path: string) => `/v1/${path}?project=${mine.id}`;
  const hook = (to: string) => ({ title: "Team", url: to });
  await people.app.admin("PUT", at("webhooks/team"), hook(url));
  const saved = await people.app.admin("PUT", at("digests/all"), digest([mine.id, other.id]));
  assert.equal(saved.status, 201, JSON.stringify(saved.body));
  const editor = async (projects: string[]) => {
    const browser = await people.browserOf((await people.person("editor", projects)).id);
    const token = await browser.token();
    return (method: string, path: string, body?: unknown) =>
      browser.as(token, method, at(path), body);
  };
  return { mine, other, at, hook, editor };
}

async function withReceiver(work: (receiver: Receiver) => Promise<void>): Promise<void> {
  const receiver = startReceiver();
  try {
    await work(receiver);
  } finally {
    await receiver.close();
  }
}

Deno.test("webhooks: people who may not see all that goes to one can neither redirect nor test it", () =>
  withReceiver(async ({ url, received }) => {
    const { mine, other, at, hook, editor } = await twoShops(url);
    const eve = await editor([mine.id]);
    const elsewhere = hook("https://eve.example.com/in");
    const moved = await eve("PUT", "webhooks/team", elsewhere);
    assertProblem(moved, 403, "insufficient_scope");
    assert.match(moved.body.detail, /“All shops”/);
    assertProblem(await eve("POST", "digests/all/test"), 403, "insufficient_scope");
    assert.equal(received.length, 0);
    const { body } = await people.app.admin("GET", at("webhooks"));
    assert.equal(body.webhooks[0].url, url, "nothing is changed");
    const handedOut = await people.app.token([mine.id], "write");
    const byToken = await people.app.fetch(at("webhooks/team"), {
      method: "PUT",
      headers: { "Authorization": `Bearer ${handedOut}`, "Content-Type": "application/json" },
      body: JSON.stringify(elsewhere),
    });
    assertProblem(byToken, 403, "insufficient_scope");

    const ada = await editor([mine.id, other.id]);
    assert.equal((await ada("POST", "digests/all/test")).body.deliveries[0].status, "sent");
    assert.equal((await ada("PUT", "webhooks/team", elsewhere)).status, 200);
    assert.equal((await eve("PUT", "webhooks/own", elsewhere)).status, 201);
  }));

Deno.test("webhooks: one whose digest has only its own project may be changed", () =>
  withReceiver(async ({ url }) => {
    const { mine, at, hook, editor } = await twoShops(url);
    const eve = await editor([mine.id]);
    for (const projects of [[], [mine.id]]) {
      await people.app.admin("PUT", at("digests/all"), digest(projects));
      const moved = await eve("PUT", "webhooks/team", hook("https://team.example.com/in"));
      assert.equal(moved.status, 200, JSON.stringify(moved.body));
    }
  }));

Deno.test("webhooks: one that a digest named before it existed is protected as well", () =>
  withReceiver(async ({ url }) => {
    const { mine, hook, editor } = await twoShops(url);
    // As where it is deleted while the digest is saved.
    await people.sql.query("DELETE FROM webhooks WHERE slug = 'team'");
    const eve = await editor([mine.id]);
    const made = await eve("PUT", "webhooks/team", hook("https://eve.example.com/in"));
    assertProblem(made, 403, "insufficient_scope");
  }));

Deno.test("webhooks: waiting messages are dropped once their digest no longer goes there", async () => {
  const changes = [
    { told: "deleted", change: null },
    { told: "of fewer projects", change: (mine: string) => digest([mine]) },
    { told: "of its own project", change: () => digest([]) },
    { told: "to nobody", change: (mine: string) => digest([mine], { webhooks: [] }) },
  ];
  for (const { told, change } of changes) {
    await withReceiver(async (receiver) => {
      const { mine, at, hook, editor } = await twoShops(receiver.url);
      receiver.answer = () => new Response(null, { status: 500 });
      await people.sql.query("UPDATE digests SET due_at = '2020-01-01' WHERE slug = 'all'");
      await people.app.app.runDue();
      assert.equal(receiver.received.length, 1);
      const eve = await editor([mine.id]);
      const { status } = change === null
        ? await eve("DELETE", "digests/all")
        : await eve("PUT", "digests/all", change(mine.id));
      assert.ok([200, 204].includes(status), told);
      assert.equal(
        (await eve("PUT", "webhooks/team", hook("https://eve.example.com/in"))).status,
        200,
      );
      // At an address that can be looked into.
      await people.app.admin("PUT", at("webhooks/team"), hook(receiver.url));
      await people.sql.query(
        "UPDATE deliveries SET due_at = '2020-01-01', claimed_until = NULL WHERE due_at IS NOT NULL",
      );
      await people.app.app.runDue();
      const { rows } = (await people.app.admin("GET", at("deliveries"))).body;
      // The subject tells figures of both projects.
      const seen = (await eve("GET", "deliveries")).body.rows;
      assert.notEqual(rows[0].subject, seen[0].subject, told);
      assert.ok(rows[0].subject.includes("visitors"), rows[0].subject);
      assert.ok(!seen[0].subject.includes("visitors"), seen[0].subject);
      assert.deepEqual([rows[0].status, rows[0].outcome], [
        "dropped",
        "The digest does not send this to the webhook any more.",
      ], told);
      assert.equal(receiver.received.length, 1, told);
    });
  }
});
