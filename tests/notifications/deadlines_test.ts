import assert from "node:assert/strict";
import {
  SHUTDOWN_NOTIFICATIONS_MS_MAX,
  WEBHOOK_CONNECT_MS_MAX,
  WEBHOOK_MS_MAX,
  WEBHOOK_RESOLVE_MS_MAX,
} from "../../src/notifications/notification_limits.ts";
import { postWebhook } from "../../src/notifications/webhook_request.ts";
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

Deno.test("webhooks: one try has a time limit", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const url = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`;
  const nowhere = { resolve: () => Promise.resolve<string[]>([]) };
  using timers = new HeldTimers(HELD_MS_MIN);
  const answered = postWebhook(request(url), nowhere);
  const slow = await listener.accept();
  // The message comes: it is connected.
  await slow.read(new Uint8Array(1));
  await timers.until(WEBHOOK_MS_MAX);
  timers.advance(WEBHOOK_MS_MAX - 1);
  assert.equal(await byNow(answered), "waits");
  await slow.write(new TextEncoder().encode("HTTP/1.1 204 No Content\r\n\r\n"));
  assert.equal((await answered).status, "sent");
  slow.close();
  const late = postWebhook(request(url), nowhere);
  const silent = await listener.accept();
  await silent.read(new Uint8Array(1));
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

Deno.test("webhooks: the look-up of a name has a time limit", async () => {
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

/** Two addresses of a name: the first answers when the test lets it, the other at once. */
function halfReachable(port: number) {
  const { promise: first, resolve } = Promise.withResolvers<Deno.TcpConn>();
  const open = () => Deno.connect({ hostname: "127.0.0.1", port });
  const tried: string[] = [];
  const network = (addresses: readonly string[]) => ({
    resolve: () => Promise.resolve([...addresses]),
    connect({ hostname = "" }: Deno.ConnectOptions) {
      tried.push(hostname);
      return hostname === addresses[0] ? first : open();
    },
  });
  return { network, tried, answer: async () => resolve(await open()) };
}

const SIX = ["2606:4700::1111", "2606:4700::1112"];
const FOUR = "1.1.1.1";

Deno.test("webhooks: an unreachable address leaves time for the next one", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { network, tried, answer } = halfReachable(listener.addr.port);
  using timers = new HeldTimers(HELD_MS_MIN);
  const sent = postWebhook(request("http://hooks.example/"), network([...SIX, FOUR]));
  await timers.until(WEBHOOK_CONNECT_MS_MAX);
  timers.advance(WEBHOOK_CONNECT_MS_MAX - 1);
  assert.equal(await byNow(sent), "waits");
  assert.deepEqual(tried, [SIX[0]]);
  timers.advance(1);
  const second = await listener.accept();
  assert.deepEqual(tried, [SIX[0], FOUR], "the other family comes next");
  assert.ok((await second.read(new Uint8Array(100)))! > 0);
  await second.write(new TextEncoder().encode("HTTP/1.1 204 No Content\r\n\r\n"));
  assert.equal((await sent).status, "sent");
  await answer();
  const late = await listener.accept();
  assert.equal(await late.read(new Uint8Array(100)), null, "it is closed, and got nothing");
  for (const each of [second, late, listener]) each.close();
});

Deno.test("webhooks: a connection that is made too late sends nothing", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { network, answer } = halfReachable(listener.addr.port);
  using timers = new HeldTimers(HELD_MS_MIN);
  const stopping = new AbortController();
  const asked = { ...request("http://hooks.example/"), signal: stopping.signal };
  const sent = postWebhook(asked, network([FOUR, SIX[0]!]));
  await timers.until(WEBHOOK_CONNECT_MS_MAX);
  stopping.abort();
  assert.equal((await sent).status, "retry");
  await answer();
  const late = await listener.accept();
  assert.equal(await late.read(new Uint8Array(100)), null, "it is closed, and got nothing");
  for (const each of [late, listener]) each.close();
});

Deno.test("messages: a stopping server waits for those being sent, for a limited time", async () => {
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
  const running = people.app.app.runDue().catch(() => {});
  const connection = await listener.accept();
  {
    using timers = new HeldTimers(HELD_MS_MIN);
    const stopped = people.stop();
    await timers.until(SHUTDOWN_NOTIFICATIONS_MS_MAX);
    timers.advance(SHUTDOWN_NOTIFICATIONS_MS_MAX - 1);
    assert.equal(await byNow(stopped), "waits");
    timers.advance(1);
    await stopped;
  }
  connection.close();
  listener.close();
  await running;
});
