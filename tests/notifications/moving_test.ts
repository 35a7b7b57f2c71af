/** What waits to be sent, where the server moves to another database. */
import assert from "node:assert/strict";
import { SENDS_AT_ONCE } from "../../src/notifications/notification_limits.ts";
import { sharedPeopleApp } from "../support/people_database.ts";
import { startReceiver } from "./receiver.ts";

const people = sharedPeopleApp();

const move = async (action: string) => {
  const { status, body } = await people.app.admin("POST", "/v1/move", { action });
  assert.equal(status, 200, JSON.stringify(body));
};

/** How many messages there are of each status. */
async function statuses(): Promise<Record<string, number>> {
  const rows = await people.sql.query<{ status: string; count: number }>(
    `SELECT status, count(*)::int AS count FROM deliveries WHERE claimed_until IS NULL
    GROUP BY status ORDER BY status`,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

Deno.test("messages: a move waits for those being sent, and no others are sent", async () => {
  const { id } = await people.app.project();
  const receiver = startReceiver();
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  receiver.answer = async () => {
    if (receiver.received.length === SENDS_AT_ONCE) arrived.resolve();
    await held.promise;
    return new Response(null, { status: 204 });
  };
  try {
    const webhooks = Array.from({ length: 2 * SENDS_AT_ONCE }, (_, i) => `hook-${i}`);
    for (const slug of webhooks) {
      const hook = { title: "Chat", url: receiver.url };
      await people.app.admin("PUT", `/v1/webhooks/${slug}?project=${id}`, hook);
    }
    const digest = { title: "Day", every: "daily", webhooks };
    await people.app.admin("PUT", `/v1/digests/day?project=${id}`, digest);
    await people.sql.query("UPDATE digests SET due_at = '2020-01-01'");
    const running = people.app.app.runDue();
    await arrived.promise;
    await move("begin");
    let isPaused = false;
    const pausing = move("pause").then(() => isPaused = true);
    const status = async () => (await people.app.admin("GET", "/v1/move")).body.status;
    while (await status() !== "paused");
    assert.equal(isPaused, false, "the outcome of what is on its way could not be noted");
    held.resolve();
    await pausing;
    await running;
    assert.equal(receiver.received.length, SENDS_AT_ONCE);
    assert.deepEqual(await statuses(), { sent: SENDS_AT_ONCE, waiting: SENDS_AT_ONCE });
    await people.app.app.runDue();
    assert.equal(receiver.received.length, SENDS_AT_ONCE, "the new server sends them");

    // The move is given up.
    await move("cancel");
    await people.app.app.runDue();
    assert.deepEqual(await statuses(), { sent: 2 * SENDS_AT_ONCE });
    const ids = receiver.received.map(({ headers }) => headers.get("webhook-id"));
    assert.equal(new Set(ids).size, ids.length);
  } finally {
    held.resolve();
    await receiver.close();
  }
});
