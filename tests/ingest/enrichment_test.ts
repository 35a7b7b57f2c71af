import assert from "node:assert/strict";
import { USER_AGENT_LENGTH_MAX } from "../../src/limits.ts";
import {
  CHROME,
  type Json,
  keptApp,
  newEvent,
  PUBLIC_PEER,
  type TestProject,
} from "../support/app.ts";

/** The server's clock says about noon: no day ends between two events, and with it the key of their hashes. */
const offsetMs = (12 - new Date().getUTCHours()) * 3_600_000;
const now = () => Date.now() + offsetMs;

const server = keptApp(
  { TRUSTED_PROXIES: "10.0.0.0/8, 192.168.0.0/16, 2001:db8:ffff::/48" },
  { now },
);
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

interface Added {
  readonly ip: string | null;
  readonly hash: string;
  readonly geo: { country: string | null; region: string | null; city: string | null } | null;
  readonly ingestedAt: string;
}

async function added(event: Json = {}, options: Json = {}, of = project): Promise<Added> {
  return (await server.roundTrip(of, event, options)).properties.server;
}

Deno.test("enrichment: every event gains ip, hash, geo and ingestedAt", async () => {
  for (const name of ["page_view", "click", "scroll", "custom"]) {
    const { ip, hash, geo, ingestedAt } = await added({ name });
    assert.equal(ip, "8.8.8.8");
    assert.match(hash, /^[A-Za-z0-9_-]{22}$/);
    assert.deepEqual(geo, { country: "US", region: null, city: null });
    assert.equal(new Date(ingestedAt).toISOString(), ingestedAt);
  }
});

Deno.test("enrichment: the address is the socket's peer, whatever headers say", async () => {
  const headers = {
    "X-Forwarded-For": "1.1.1.1",
    "Forwarded": "for=1.1.1.1",
    "X-Real-IP": "1.1.1.1",
    "CF-Connecting-IP": "1.1.1.1",
    "True-Client-IP": "1.1.1.1",
    "X-Footfall-Peer": "1.1.1.1",
  };
  assert.equal((await added({}, { headers })).ip, "8.8.8.8");
  assert.equal((await added({}, { headers, peer: null })).ip, null);
});

Deno.test("enrichment: behind trusted proxies the list is walked from the right", async () => {
  const cases: [string, Record<string, string>, string][] = [
    ["10.0.0.1", { "X-Forwarded-For": "9.9.9.9, 1.1.1.1" }, "1.1.1.1"],
    ["10.0.0.1", { "X-Forwarded-For": "1.1.1.1, 192.168.1.1, 10.2.3.4" }, "1.1.1.1"],
    ["10.0.0.1", { "X-Forwarded-For": "1.1.1.1", "Forwarded": "for=9.9.9.9" }, "1.1.1.1"],
    ["10.0.0.1", { "Forwarded": 'for=9.9.9.9, for="[2606:4700::1]:4711"' }, "2606:4700::1"],
    ["10.0.0.1", {}, "10.0.0.1"],
    ["10.0.0.1", { "X-Forwarded-For": "nonsense" }, "10.0.0.1"],
    ["2001:db8:ffff::1", { "X-Forwarded-For": "1.1.1.1" }, "1.1.1.1"],
    ["::ffff:10.0.0.1", { "X-Forwarded-For": "1.1.1.1" }, "1.1.1.1"],
    ["11.0.0.1", { "X-Forwarded-For": "1.1.1.1" }, "11.0.0.1"],
  ];
  for (const [peer, headers, expected] of cases) {
    assert.equal((await added({}, { peer, headers })).ip, expected, `${peer} ${headers}`);
  }
});

Deno.test("enrichment: geo is null for private and unknown addresses", async () => {
  for (const peer of ["127.0.0.1", "10.1.2.3", "192.168.0.5", "::1", "fd00::1", "fe80::1", null]) {
    assert.equal((await added({}, { peer })).geo, null, String(peer));
  }
  const geo = (await added({}, { peer: "2001:4860:4860::8888" })).geo;
  assert.match(geo?.country ?? "", /^[A-Z]{2}$/);
});

Deno.test("enrichment: a project's ipStorage applies after geo and hash were computed", async () => {
  const hashes = new Map<string, Added>();
  const ipv6 = "2001:4860:4860::8888";
  const own = await server.project();
  for (
    const [ipStorage, ip, ip6] of [
      ["full", "8.8.8.8", ipv6],
      ["truncated", "8.8.8.0", "2001:4860:4860::"],
      ["none", null, null],
    ] as const
  ) {
    const path = `/v1/projects/${own.id}`;
    assert.equal((await server.admin("PATCH", path, { ipStorage })).status, 200);
    const found = await added({}, {}, own);
    hashes.set(ipStorage, found);
    assert.equal(found.ip, ip);
    assert.equal(found.geo?.country, "US");
    assert.equal((await added({}, { peer: ipv6 }, own)).ip, ip6);
  }
  assert.equal(new Set([...hashes.values()].map(({ hash }) => hash)).size, 1);
});

Deno.test("enrichment: the hash tells visitors apart by project, address and user agent", async () => {
  const same = await added();
  assert.equal((await added({ userId: "someone", name: "other" })).hash, same.hash);
  const other = await server.project();
  const different = [
    await added({}, { peer: "8.8.4.4" }),
    await added({}, { peer: null }),
    await added({}, { headers: { "User-Agent": CHROME + " x" } }),
    await added({}, { headers: { "User-Agent": "" } }),
    await added({}, {}, other),
  ];
  assert.equal(new Set([same, ...different].map(({ hash }) => hash)).size, 6);
});

Deno.test("enrichment: the hash of yesterday's event has yesterday's key", async () => {
  const day = 24 * 3600 * 1000;
  const today = (await added({ timestamp: now() })).hash;
  const yesterday = (await added({ timestamp: now() - day })).hash;
  assert.notEqual(yesterday, today);
  assert.equal((await added({ timestamp: now() - day })).hash, yesterday);
  // Older salts are deleted for good: such an event is hashed with today's, and is of nobody of another day.
  const older = (await added({ timestamp: now() - 10 * day })).hash;
  assert.ok(![today, yesterday].includes(older));
  assert.equal((await added({ timestamp: now() - 10 * day })).hash, older);
});

Deno.test("enrichment: browser, system, device and bot verdict come from the user agent", async () => {
  const desktop = await server.roundTrip(project, {});
  assert.deepEqual([desktop.browser, desktop.os, desktop.device, desktop.bot], [
    "Chrome",
    "Linux",
    "desktop",
    false,
  ]);
  const bot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
  assert.equal((await server.roundTrip(project, {}, { headers: { "User-Agent": bot } })).bot, true);
});

Deno.test("enrichment: bots are kept, flagged and left out of reads unless asked for", async () => {
  const own = await server.project();
  await server.post(own, [newEvent({ name: "person" })]);
  await server.post(own, [newEvent({ name: "bot" })], { headers: { "User-Agent": "curl/8.0" } });
  await server.post(own, [newEvent({ name: "backend" })], { key: own.secretKey });
  const names = async (query: Record<string, string>) =>
    (await server.read(own, query)).body.events.map((event: Json) => event.name).toSorted();
  assert.deepEqual(await names({}), ["backend", "person"]);
  assert.deepEqual(await names({ bots: "exclude" }), ["backend", "person"]);
  assert.deepEqual(await names({ bots: "include" }), ["backend", "bot", "person"]);
  assert.deepEqual(await names({ bots: "only" }), ["bot"]);
});

Deno.test("enrichment: a secret key speaks for a visitor by context.ip and context.userAgent", async () => {
  const context = { ip: "8.8.4.4", userAgent: CHROME };
  const key = project.secretKey;
  const backend = { key, peer: "10.0.0.9", headers: { "User-Agent": "curl/8.0" } };
  const found = await server.roundTrip(project, { context }, backend);
  assert.equal(found.properties.server.ip, "8.8.4.4");
  assert.equal(found.properties.server.geo.country, "US");
  assert.deepEqual([found.browser, found.bot], ["Chrome", false]);
  const visitor = await added({}, { peer: "8.8.4.4" });
  assert.equal(found.properties.server.hash, visitor.hash);
  assert.equal(found.extra, null);
});

Deno.test("enrichment: a secret key without them has no address, agent and verdict", async () => {
  const found = await server.roundTrip(project, {}, { key: project.secretKey });
  assert.deepEqual([found.properties.server.ip, found.properties.server.geo], [null, null]);
  assert.deepEqual([found.browser, found.os, found.device, found.bot], [null, null, null, null]);
  const { body } = await server.post(project, [newEvent({ context: { ip: "not an ip" } })], {
    key: project.secretKey,
  });
  assert.deepEqual([body.errors[0].code, body.errors[0].field], ["invalid_address", "context.ip"]);
});

Deno.test("enrichment: a public key's context.ip and userAgent are ignored", async () => {
  const context = { ip: "1.1.1.1", userAgent: "curl/8.0" };
  const found = await server.roundTrip(project, { context });
  assert.equal(found.properties.server.ip, PUBLIC_PEER);
  assert.deepEqual([found.browser, found.bot], ["Chrome", false]);
  assert.ok(!JSON.stringify(found).includes("1.1.1.1"));
});

Deno.test("enrichment: path, campaign and click id are read from the url", async () => {
  const url = "https://Shop.Example/sale/%C3%A4?utm_source=News&utm_medium=Email&utm_campaign=c" +
    "&utm_term=t&utm_content=x&gclid=abc#top";
  const found = await server.roundTrip(project, { url });
  assert.equal(found.url, url);
  assert.equal(found.path, "/sale/%C3%A4");
  assert.deepEqual(found.campaign, {
    source: "News",
    medium: "Email",
    campaign: "c",
    term: "t",
    content: "x",
    clickId: "gclid",
  });
});

Deno.test("enrichment: a path sent beside the url counts, without query and fragment", async () => {
  const cases: [Json, string | null][] = [
    [{ url: "https://a.example/from/url?x=1" }, "/from/url"],
    [{ url: "https://a.example" }, "/"],
    [{ url: "https://a.example/x", path: "/own?q=1#f" }, "/own"],
    [{ path: "/alone#f?x" }, "/alone"],
    [{ path: "?only=query" }, null],
    [{ url: "/relative?utm_source=s" }, "/relative"],
    [{ url: "not a url" }, null],
    [{ url: "mailto:a@b.example" }, null],
  ];
  for (const [event, path] of cases) {
    const found = await server.roundTrip(project, event);
    assert.equal(found.path, path, JSON.stringify(event));
    assert.equal(found.url, event.url ?? null);
  }
});

Deno.test("enrichment: any url comes back as it was sent", async () => {
  const urls = [
    "https://a.example/x?y#z",
    "https://a.example",
    "https://a.example:443/x",
    "https://a.example:8443/x",
    "http://a.example/x",
    "HTTPS://A.EXAMPLE/x",
    "https://a.example/a b?c d#e f",
    "https://a.example//double//slash",
    "https://user:pw@a.example/",
    "https://ä.example/ü",
    "https://a.example/x?",
    "file:///etc/passwd",
    "//a.example/x",
  ];
  for (const url of urls) assert.equal((await server.roundTrip(project, { url })).url, url);
});

Deno.test("enrichment: only 2,048 characters of a user agent header count", async () => {
  const own = await server.project();
  const hash = async (agent: string) => {
    const headers = { "User-Agent": agent };
    return (await server.roundTrip(own, {}, { headers })).properties.server.hash;
  };
  const long = "x".repeat(USER_AGENT_LENGTH_MAX - 1);
  assert.equal(await hash(`${long}ab`), await hash(`${long}ac`));
  assert.notEqual(await hash(`${long}ab`), await hash(`${long}bb`));
});

Deno.test("enrichment: who is known by the hash alone starts anew at each midnight, however late events arrive", async () => {
  const own = await server.project();
  const at = (timestamp: string) => newEvent({ name: "page_view", timestamp });
  const times = ["2026-05-05T23:50:00Z", "2026-05-06T00:10:00Z", "2026-05-06T00:20:00Z"];
  await server.post(own, times.map(at));
  const days = `from=2026-05-05&to=2026-05-06&timezone=UTC&project=${own.id}`;
  const { body } = await server.admin("GET", `/v1/kpis?${days}`);
  const { visitors, sessions, bounceRate } = body.totals;
  assert.deepEqual([visitors, sessions, bounceRate.value], [2, 2, 0.5]);
});
