import assert from "node:assert/strict";
import {
  SHUTDOWN_TOLD_MS_MAX,
  WEBHOOK_MS_MAX,
  WEBHOOK_RESOLVE_MS_MAX,
} from "../../src/told/told_limits.ts";
import { postWebhook } from "../../src/told/webhook_request.ts";
import { HeldTimers } from "../support/held_timers.ts";
import { PeopleApp } from "../support/people_database.ts";

const NEVER = new AbortController().signal;
const HELD_MS_MIN = 500;

const request = (url: string) => ({
  ...{ url, byOperator: true, headers: {}, body: "{}", signal: NEVER },
});

/** What a promise has come to by now; what is still to come needs no time of its own. */
async function byNow<T>(promise: Promise<T>): Promise<T | "waits"> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 1));
  return await Promise.race([promise, Promise.resolve("waits" as const)]);
}

Deno.test("webhooks: a receiver has its time for the whole of one try, and no longer", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const url = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`;
  const nowhere = { resolve: () => Promise.resolve<string[]>([]) };
  using timers = new HeldTimers(HELD_MS_MIN);
  const answered = postWebhook(request(url), nowhere);
  const slow = await listener.accept();
  await timers.until(WEBHOOK_MS_MAX);
  timers.advance(WEBHOOK_MS_MAX - 1);
  assert.equal(await byNow(answered), "waits");
  await slow.write(new TextEncoder().encode("HTTP/1.1 204 No Content\r\n\r\n"));
  assert.equal((await answered).status, "sent");
  slow.close();
  const late = postWebhook(request(url), nowhere);
  const silent = await listener.accept();
  timers.advance(WEBHOOK_MS_MAX - 1);
  assert.equal(await byNow(late), "waits");
  timers.advance(1);
  assert.deepEqual(await late, {
    status: "retry",
    words: "It did not answer in time, or broke off.",
  });
  silent.close();
  listener.close();
});

Deno.test("webhooks: a name has its time to be found, and no longer", async () => {
  const told = { status: "retry", words: "The name of the host was not found." };
  using timers = new HeldTimers(HELD_MS_MIN);
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const found = postWebhook(request("https://hooks.example/"), { resolve: () => promise });
  timers.advance(WEBHOOK_RESOLVE_MS_MAX - 1);
  assert.equal(await byNow(found), "waits");
  // In time, and of a private network.
  resolve(["10.0.0.1"]);
  assert.equal((await found).status, "failed");
  const never = { resolve: () => new Promise<string[]>(() => {}) };
  const lost = postWebhook(request("https://hooks.example/"), never);
  timers.advance(WEBHOOK_RESOLVE_MS_MAX - 1);
  assert.equal(await byNow(lost), "waits");
  timers.advance(1);
  assert.deepEqual(await lost, told);
});

Deno.test("told: a server that stops waits for what it is sending, and no longer", async () => {
  // It takes connections, and never says a word.
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const people = new PeopleApp({
    SMTP_URL: `smtp://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    SMTP_FROM: "Footfall <stats@example.org>",
    PUBLIC_URL: "https://stats.example.org",
  });
  await people.start();
  const { id } = await people.app.project({ name: "Shop" });
  const { email } = await people.person("viewer", [id]);
  const digest = { title: "The day", every: "daily", to: [email] };
  const path = `/v1/digests/day?project=${id}`;
  assert.equal((await people.app.admin("PUT", path, digest)).status, 201);
  await people.sql.query("UPDATE digests SET due_at = '2020-01-01'");
  const telling = people.app.app.tellDue().catch(() => {});
  const connection = await listener.accept();
  {
    using timers = new HeldTimers(HELD_MS_MIN);
    const stopped = people.stop();
    await timers.until(SHUTDOWN_TOLD_MS_MAX);
    timers.advance(SHUTDOWN_TOLD_MS_MAX - 1);
    assert.equal(await byNow(stopped), "waits");
    timers.advance(1);
    await stopped;
  }
  connection.close();
  listener.close();
  await telling;
});
