/** The script that PostHog publishes for its snippet, in a real page. */
/// <reference lib="dom" />
import assert from "node:assert/strict";
import { PUBLIC_PEER, sharedApp } from "../../support/app.ts";
import { until } from "../../support/server_process.ts";
import { ClientSite } from "../client_site.ts";
import { allStored } from "../real_client.ts";

const server = sharedApp();
const WAIT_MS_MAX = 60_000;

Deno.test("posthog-js by its snippet: it asks for config.js here, then sends gzip without saying so", async () => {
  const project = await server.project();
  const asked: string[] = [];
  const gzipped: boolean[] = [];
  const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using http = Deno.serve(quiet, async (request) => {
    const { pathname } = new URL(request.url);
    asked.push(`${request.method} ${pathname}`);
    if (request.method !== "POST") return await server.app.fetch(request, PUBLIC_PEER);
    const body = await request.bytes();
    if (pathname === "/i/v0/e/") gzipped.push(body[0] === 0x1f);
    assert.equal(request.headers.get("content-encoding"), null);
    const { url, method, headers } = request;
    return await server.app.fetch(new Request(url, { method, headers, body }), PUBLIC_PEER);
  });
  await using site = await ClientSite.open("posthog_array.ts");
  const page = await site.page("/shop");
  await page.evaluate(
    (key, url) => globalThis.load(key, url, true),
    ...[project.publicKey, `http://127.0.0.1:${http.addr.port}`] as const,
  );
  const configured = () => Promise.resolve(asked.includes("POST /flags/"));
  await until(WAIT_MS_MAX, configured, "it has its settings, and asks for flags");
  await page.evaluate(() => globalThis.track(1, 20));
  const names = async () => (await allStored(server, project)).map(({ name }) => name);
  await until(WAIT_MS_MAX, async () => (await names()).length >= 22, "all arrive");
  const counts = Object.groupBy(await names(), (name) => String(name));
  assert.deepEqual([counts.page_view?.length, counts.Clicked?.length, counts.Queued?.length], [
    1,
    20,
    1,
  ]);
  assert.ok(asked.includes(`GET /array/${project.publicKey}/config.js`), asked.join());
  assert.ok(!asked.includes(`GET /array/${project.publicKey}/config`), "and needs no other");
  assert.ok(gzipped.includes(true), "gzip by its first bytes");
  assert.deepEqual(asked.filter((one) => one.includes("/static/")), [], "no script of a feature");
  assert.deepEqual(await page.evaluate(() => globalThis.mistakes), []);
});
