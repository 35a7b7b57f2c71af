import assert from "node:assert/strict";
import { PROPERTIES_BYTES_MAX } from "../../../src/limits.ts";
import { TestApp, type TestProject } from "../../support/app.ts";
import { testsAfter } from "../../support/prepared_tests.ts";
import { send } from "../client_app.ts";

const server = new TestApp({ TRUSTED_PROXIES: "10.0.0.0/8" });
let project: TestProject;
let domain: string;
Deno.test.beforeAll(async () => void await server.start());
Deno.test.afterAll(() => server.stop());
const test = testsAfter(async () => {
  domain = `${crypto.randomUUID()}.example`;
  project = await server.project({ siteUrl: `https://www.${domain}/shop` });
});

function post(said: Record<string, unknown>, headers: Record<string, string> = {}) {
  return send(server, {
    path: "/api/event",
    headers: { "Content-Type": "text/plain", ...headers },
    body: JSON.stringify({ n: "pageview", u: `https://${domain}/a`, d: domain, ...said }),
  });
}

// deno-lint-ignore no-explicit-any -- read as a client would
const stored = async (of = project): Promise<any[]> => await server.stored(of);

test("plausible: a page view by the domain of its site, with Plausible's reply", async () => {
  const { status, body, headers } = await post({
    r: "https://www.google.com/",
    p: { author: "me" },
  });
  assert.deepEqual([status, body], [202, "ok"]);
  assert.match(headers.get("content-type") ?? "", /^text\/plain/);
  const [event] = await stored();
  assert.deepEqual([event.name, event.path, event.referrer], [
    ...["page_view", "/a", "https://www.google.com/"],
  ]);
  assert.equal(event.properties.author, "me");
  assert.equal(event.properties.server.ip, "8.8.8.8");
  assert.equal(event.browser, "Chrome");
});

test("plausible: www, a key, and no domain at all name the project too", async () => {
  for (const d of [`www.${domain}`, domain.toUpperCase(), project.publicKey, undefined]) {
    assert.equal((await post({ d })).status, 202, d);
  }
  assert.equal((await stored()).length, 4);
});

test("plausible: several domains are several projects, those that are known", async () => {
  const other = await server.project({ siteUrl: `https://blog.${domain}` });
  assert.equal((await post({ d: `${domain},blog.${domain}, www.${domain}` })).status, 202);
  const [[one], [another]] = [await stored(), await stored(other)];
  assert.equal((await stored()).length, 1);
  assert.notEqual(one.eventId, another.eventId);
  assert.equal((await post({ d: `${domain},unknown.example` })).status, 202);
  assert.equal((await post({ d: `unknown.example,${domain},other.example` })).status, 202);
  assert.equal((await stored()).length, 3);
  assert.equal((await stored(other)).length, 1);
  const unknown = await post({ d: "unknown.example,other.example" });
  assert.deepEqual([unknown.status, Object.keys(unknown.body.errors)], [401, ["invalid_api_key"]]);
  assert.equal((await post({ d: `${domain},${project.secretKey}` })).status, 403);
  assert.equal((await stored()).length, 3);
});

const commits = async (): Promise<number> => {
  const { body } = await server.fetch("/metrics", {}, "127.0.0.1");
  return Number(/^footfall_commit_rows_count (\d+)$/m.exec(body)?.[1]);
};

test("plausible: all of several domains get an event in one commit, or none does", async () => {
  const other = await server.project({ siteUrl: `https://blog.${domain}` });
  const before = await commits();
  assert.equal((await post({ d: `${domain},blog.${domain}` })).status, 202);
  assert.equal(await commits(), before + 1);
  assert.deepEqual([(await stored()).length, (await stored(other)).length], [1, 1]);
  const refused = await post({ d: `${domain},blog.${domain}`, n: "x".repeat(201) });
  assert.deepEqual([refused.status, Object.keys(refused.body.errors)], [400, ["name"]]);
});

test("plausible: who may not send to one of several domains sends to none", async () => {
  await server.project({
    siteUrl: `https://blog.${domain}`,
    allowedOrigins: ["https://elsewhere.example"],
  });
  const headers = { Origin: `https://${domain}` };
  assert.equal((await post({ d: `${domain},blog.${domain}` }, headers)).status, 403);
  assert.deepEqual(await stored(), []);
  assert.equal((await post({}, headers)).status, 202);
});

test("plausible: what is refused is told in its shape", async () => {
  const cases: [Record<string, unknown>, number, string][] = [
    [{ d: "unknown.example" }, 401, "invalid_api_key"],
    [{ d: "", u: "/no/host" }, 401, "missing_api_key"],
    [{ d: project.secretKey }, 403, "key_not_allowed_here"],
    [{ n: "x".repeat(201) }, 400, "name"],
    [{ n: undefined }, 400, "invalid_event"],
  ];
  for (const [said, status, member] of cases) {
    const reply = await post(said);
    assert.equal(reply.status, status, JSON.stringify(said));
    assert.deepEqual(Object.keys(reply.body.errors), [member]);
    assert.equal(typeof reply.body.errors[member][0], "string");
  }
  assert.deepEqual(await stored(), []);
});

test("plausible: revenue is kept, engagement is technical", async () => {
  await post({ n: "Purchase", $: { amount: "12.29", currency: "EUR" } });
  await post({ n: "engagement", sd: 80, e: 4_000 });
  const events = await stored();
  const purchase = events.find(({ name }) => name === "Purchase");
  assert.deepEqual([purchase.properties.revenue, purchase.properties.currency], [12.29, "EUR"]);
  const engagement = events.find(({ name }) => name === "$engagement");
  assert.deepEqual(
    [engagement.inSession, engagement.properties.scrollDepth, engagement.properties.engagementTime],
    [false, 80, 4_000],
  );
});

test("plausible: an event with i: false undoes no bounce, any other does", async () => {
  const kpis = async () => {
    const token = await server.token([project.id], "read");
    const { body } = await server.fetch("/v1/kpis", {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { sessions, events, bounceRate } = body.totals;
    return { sessions, events, bounces: bounceRate.numerator };
  };
  await post({});
  await post({ n: "autoplay", i: false });
  assert.deepEqual(await kpis(), { sessions: 1, events: 2, bounces: 1 });
  await post({ i: false });
  assert.deepEqual(await kpis(), { sessions: 1, events: 3, bounces: 1 });
  await post({ n: "buy" });
  assert.deepEqual(await kpis(), { sessions: 1, events: 4, bounces: 0 });
});

test("plausible: X-Forwarded-For counts as TRUSTED_PROXIES says", async () => {
  const headers = {
    "X-Forwarded-For": "84.138.30.31",
    "User-Agent":
      "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  };
  const body = JSON.stringify({ name: "trusted", url: `https://${domain}/`, domain });
  const request = (peer: string) =>
    server.fetch("/api/event", { method: "POST", headers, body }, peer);
  assert.equal((await request("10.0.0.7")).status, 202);
  assert.equal((await request("8.8.8.8")).status, 202);
  const events = await stored();
  assert.deepEqual(
    events.map(({ properties }) => properties.server.ip).toSorted(),
    ["8.8.8.8", "84.138.30.31"],
  );
  assert.deepEqual(events.map(({ device }) => device), ["tablet", "tablet"]);
});

test("plausible: a site's name is a key of POST /v1/events too, wherever a public one may stand", async () => {
  const key = `site:${domain}`;
  const event = () => ({ eventId: crypto.randomUUID(), name: "from the script" });
  const ways = [
    await server.post(project, [event()], { key }),
    await server.post(project, [event()], {
      key: null,
      query: `?key=${encodeURIComponent(key)}`,
    }),
    await server.post(project, [event()], { key: null, envelope: { apiKey: key } }),
  ];
  assert.deepEqual(ways.map(({ status, body }) => [status, body.accepted]), [
    ...[[200, 1], [200, 1], [200, 1]],
  ]);
  assert.equal((await stored()).length, 3);
  const refused = await Promise.all(
    ["site:unknown.example", domain, "site:", `site:${project.secretKey}`].map((key) =>
      server.post(project, [event()], { key })
    ),
  );
  assert.deepEqual(refused.map(({ status }) => status), [401, 401, 401, 403]);
  const adopted = { kind: "public", value: key };
  const { status } = await server.admin("POST", `/v1/projects/${project.id}/keys`, adopted);
  assert.equal(status, 400, "no key is named as a site is");
});

test("plausible: another project's origins refuse a page by its domain too", async () => {
  const closed = await server.project({
    siteUrl: `https://closed.${domain}`,
    allowedOrigins: [`https://closed.${domain}`],
  });
  const from = (Origin: string) => post({ d: `closed.${domain}` }, { Origin });
  assert.equal((await from("https://evil.example")).status, 403);
  assert.equal((await from(`https://closed.${domain}`)).status, 202);
  assert.equal((await stored(closed)).length, 1);
});

test("plausible: properties as a text are looked through as those of an object are", async () => {
  for (const p of ['{"a":"\\u0000"}', '{"a":"\\ud800"}']) {
    const refused = await post({ p });
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    assert.deepEqual(await stored(), []);
  }
  assert.equal((await post({ p: '{"a":"\\u00e4"}' })).status, 202);
  assert.equal((await stored())[0].properties.a, "ä");
});

test("plausible: a text that is longer than what can be kept is not parsed", async () => {
  const longest = (length: number) => {
    const text = (filler: string) => JSON.stringify({ a: filler });
    return text(" ".repeat(length - text("").length));
  };
  const spelt = `{"a":"${"\\u0061".repeat(5_000)}"}`;
  assert.equal((await post({ p: spelt })).status, 202);
  assert.equal((await stored())[0].properties.a, "a".repeat(5_000));
  for (const p of [longest(6 * PROPERTIES_BYTES_MAX), longest(6 * PROPERTIES_BYTES_MAX + 1)]) {
    const { status, body } = await post({ p });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /event_too_large/);
  }
  // Of a revenue that is none, nothing is told.
  const amount = (spaces: number) => `{"amount":5${" ".repeat(spaces)}}`;
  assert.equal((await post({ $: amount(1_024 - 12) })).status, 202);
  assert.equal((await post({ $: amount(1_024 - 11) })).status, 202);
  const revenues = (await stored()).map(({ properties }) => properties.revenue);
  assert.deepEqual(revenues.toSorted(), [5, undefined, undefined]);
});
