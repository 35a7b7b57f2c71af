import assert from "node:assert/strict";
import { RETRY_AFTER_MS } from "../../src/notifications/notification_limits.ts";
import { postWebhook } from "../../src/notifications/webhook_request.ts";
import { assertProblem } from "../support/app.ts";
import { sharedPeopleApp } from "../support/people_database.ts";
import { selfSigned } from "../support/self_signed.ts";
import { isSigned, startReceiver } from "./receiver.ts";

const people = sharedPeopleApp({ READ_TIMEOUT_MS: "120000" });
const NEVER = new AbortController().signal;
const request = (url: string, byOperator = true) => ({
  ...{ url, byOperator, headers: { "webhook-id": "msg_1" }, body: "{}", signal: NEVER },
});
const nowhere = { resolve: () => Promise.resolve<string[]>([]) };

async function saved(url: string, format = "standard") {
  const { id } = await people.app.project({ name: "Shop" });
  const path = `/v1/webhooks/chat?project=${id}`;
  const reply = await people.app.admin("PUT", path, { title: "Chat", url, format });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  const test = () => people.app.admin("POST", `/v1/webhooks/chat/test?project=${id}`);
  return { id, path, secret: reply.body.secret as string, test };
}

Deno.test("webhooks: a test arrives, signed with the secret that was shown once", async () => {
  const receiver = startReceiver();
  try {
    const { id, path, secret, test } = await saved(`${receiver.url}/in?a=1`);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { status, body } = await test();
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.deliveries[0].status, body.deliveries[0].isTest], ["sent", true]);
    const [got] = receiver.received;
    assert.equal(got!.path, "/in");
    assert.equal(got!.headers.get("webhook-id"), body.deliveries[0].id);
    assert.ok(await isSigned(got!, secret));
    assert.ok(!await isSigned({ ...got!, body: `${got!.body} ` }, secret));
    const list = await people.app.admin("GET", `/v1/webhooks?project=${id}`);
    assert.deepEqual(list.body.webhooks[0].slug, "chat");
    const again = await people.app.admin("PUT", path, { title: "Other", url: receiver.url });
    assert.equal(again.status, 200);
    const log = await people.app.admin("GET", `/v1/deliveries?project=${id}`);
    assert.equal(log.body.rows.length, 1);
    for (const told of [list.body, again.body, log.body, people.app.logLines]) {
      assert.ok(!JSON.stringify(told).includes(secret), "the secret is shown once");
    }
    await test();
    assert.ok(await isSigned(receiver.received[1]!, secret), "what replaces it keeps the secret");
  } finally {
    await receiver.close();
  }
});

Deno.test("webhooks, alerts and digests that may only be created replace none", async () => {
  const { id } = await people.app.project({ name: "Shop" });
  const bodies = {
    webhooks: { title: "A", url: "https://example.com/in" },
    alerts: { title: "A", on: { kind: "silence", minutes: 5 } },
    digests: { title: "A", every: "daily" },
  };
  const headers = {
    "Authorization": `Bearer ${people.app.app.controlToken}`,
    "Content-Type": "application/json",
    "If-None-Match": "*",
  };
  for (const [kind, body] of Object.entries(bodies)) {
    const init = { method: "PUT", headers, body: JSON.stringify(body) };
    const put = () => people.app.fetch(`/v1/${kind}/a?project=${id}`, init);
    assert.equal((await put()).status, 201, kind);
    assertProblem(await put(), 412, "already_exists");
  }
});

Deno.test("webhooks, alerts and digests: saving what is stored already is not in the audit", async () => {
  const { id } = await people.app.project({ name: "Shop" });
  const url = "https://example.com/in";
  const saves: [kind: string, body: object, another: object][] = [
    ["webhooks", { title: "A", url }, { title: "A", url: `${url}?b` }],
    ["alerts", { title: "A", on: { kind: "silence", minutes: 5 } }, { title: "B" }],
    ["digests", { title: "A", every: "daily" }, { title: "A", every: "weekly" }],
  ];
  for (const [kind, body, another] of saves) {
    for (const [sent, entries] of [[body, 1], [body, 1], [another, 2], [body, 3]] as const) {
      await people.app.admin("PUT", `/v1/${kind}/a?project=${id}`, { ...body, ...sent });
      const { rows } = (await people.app.admin("GET", "/v1/audit?limit=50")).body;
      const what = `${kind.slice(0, -1)}.save`;
      const own = rows.filter((row: { what: string; project: string }) =>
        row.what === what && row.project === id
      );
      assert.equal(own.length, entries, `${kind} ${JSON.stringify(sent)}`);
    }
  }
});

Deno.test("alerts: saving one as it is stored changes nothing; defined otherwise, it begins anew", async () => {
  const { id } = await people.app.project();
  const put = (minutes: number) =>
    people.app.admin("PUT", `/v1/alerts/a?project=${id}`, {
      title: "Silent",
      on: { kind: "silence", minutes },
    });
  const stored = async () => {
    const [row] = await people.sql.query(
      "SELECT a.* FROM alerts a JOIN projects USING (project_id) WHERE public_id = $1::text",
      [id],
    );
    return row!;
  };
  assert.equal((await put(5)).status, 201);
  await people.sql.query(
    "UPDATE alerts SET firing_since = now(), told = '{one}', due_at = now() + interval '1 hour'",
  );
  const before = await stored();
  const again = await put(5);
  assert.deepEqual([again.status, again.body.firingSince === null], [200, false]);
  assert.deepEqual(await stored(), before, "it would report the same once more");
  await people.sql.query("UPDATE alerts SET problem = 'no segment' WHERE slug = 'a'");
  await put(5);
  const { problem, due_at, told } = await stored();
  assert.deepEqual([problem, told], [null, ["one"]]);
  assert.ok((due_at as Date) < (before.due_at as Date), "one that had failed is tried again");
  assert.equal((await put(6)).body.firingSince, null);
  assert.deepEqual((await stored()).told, []);
});

/** Makes what waits due now. */
async function makeDue(): Promise<void> {
  await people.sql.query(
    "UPDATE deliveries SET due_at = '2020-01-01', claimed_until = NULL WHERE due_at IS NOT NULL",
  );
}

Deno.test("webhooks: retried by the schedule with one id, then failed; redirects are not followed", async () => {
  const receiver = startReceiver();
  const statuses = [500, 302, 429, 404, 503, 500, 500];
  const location = `${receiver.url}/elsewhere`;
  receiver.answer = () =>
    new Response(null, { status: statuses.shift() ?? 500, headers: { Location: location } });
  try {
    const { id, path } = await saved(`${receiver.url}/in`);
    const digest = { title: "Day", every: "daily", webhooks: ["chat"] };
    const digestPath = `/v1/digests/day?project=${id}`;
    assert.equal((await people.app.admin("PUT", digestPath, digest)).status, 201);
    await people.sql.query("UPDATE digests SET due_at = '2020-01-01' WHERE slug = 'day'");
    const row = async () =>
      (await people.app.admin("GET", `/v1/deliveries?project=${id}`)).body.rows[0];
    let sinceMs = Date.now();
    await people.app.app.runDue();
    const outcomes: string[] = [];
    for (const waitMs of RETRY_AFTER_MS) {
      const { status, outcome, nextTryAt } = await row();
      assert.equal(status, "waiting");
      outcomes.push(outcome);
      const triedMs = Date.parse(nextTryAt) - waitMs;
      assert.ok(triedMs >= sinceMs && triedMs <= Date.now(), `${nextTryAt} after ${waitMs} ms`);
      await makeDue();
      sinceMs = Date.now();
      await people.app.app.runDue();
    }
    const { status, tries, nextTryAt } = await row();
    assert.deepEqual([status, tries, nextTryAt], ["failed", RETRY_AFTER_MS.length + 1, null]);
    assert.equal(outcomes[1], "Answered 302: redirects are not followed.");
    await makeDue();
    await people.app.app.runDue();
    assert.equal(receiver.received.length, RETRY_AFTER_MS.length + 1, "failed is failed");
    const ids = new Set(receiver.received.map(({ headers }) => headers.get("webhook-id")));
    assert.equal(ids.size, 1);
    assert.ok(receiver.received.every(({ path }) => path === "/in"));
    const refused = await people.app.admin("DELETE", path);
    assertProblem(refused, 409, "conflict");
    assert.match(refused.body.detail, /“Day”/);
    assert.equal((await people.app.admin("DELETE", digestPath)).status, 204);
    assert.equal((await people.app.admin("DELETE", path)).status, 204);
    assertProblem(await people.app.admin("DELETE", path), 404, "not_found");
  } finally {
    await receiver.close();
  }
});

Deno.test("webhooks: only an operator may set an address of the own network", async () => {
  const receiver = startReceiver();
  try {
    const { id } = await people.app.project();
    const editor = await people.person("editor", [id]);
    const browser = await people.browserOf(editor.id);
    const path = `/v1/webhooks/chat?project=${id}`;
    const put = async (url: string) =>
      await browser.as(await browser.token(), "PUT", path, { title: "Chat", url });
    for (const url of [receiver.url, "https://10.0.0.7/", "https://localhost/", "https://[::1]/"]) {
      assertProblem(await put(url), 403, "insufficient_scope");
    }
    for (
      const url of ["http://example.com/", "https://a:b@example.com/", "ftp://example.com/", "x"]
    ) {
      assertProblem(await put(url), 400, "invalid_body");
    }
    assert.equal((await put("https://hooks.example.com/1")).status, 201);
    const outcome = await postWebhook(request(receiver.url, false), nowhere);
    assert.deepEqual([outcome.status, outcome.words], [
      "failed",
      "The address is of a private network, which is not allowed here.",
    ]);
    const inside = { resolve: () => Promise.resolve(["127.0.0.1"]) };
    for (const byOperator of [true, false]) {
      const named = request("https://hooks.example.com/1", byOperator);
      assert.equal((await postWebhook(named, inside)).status, "failed", "a name that leads inside");
    }
    const metadata = request("http://169.254.169.254/latest");
    assert.equal((await postWebhook(metadata, nowhere)).status, "failed");
    const unknown = await postWebhook(request("https://hooks.example.com/"), nowhere);
    assert.equal(unknown.words, "The name of the host was not found.");
    assert.equal(receiver.received.length, 0);
  } finally {
    await receiver.close();
  }
});

Deno.test("webhooks: names that lead to the own network, with addresses in any notation", async () => {
  const receiver = startReceiver();
  const { port } = new URL(receiver.url);
  const BLOCKED = "The address is of a private network, which is not allowed here.";
  const inside = [
    ...["127.0.0.1", "10.0.0.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"],
    ...["0.0.0.0", "::1", "::", "fd00::7", "fe80::1", "::ffff:127.0.0.1", "::ffff:7f00:1"],
    ...["::ffff:10.0.0.7", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1"],
  ];
  const public_ = "93.184.216.34";
  try {
    for (const address of inside) {
      for (const found of [[address], [public_, address], [address, public_]]) {
        const network = { resolve: () => Promise.resolve(found) };
        // Whoever runs the server names addresses, and no name that leads inside.
        for (const byOperator of [true, false]) {
          const named = request(`https://hooks.example.com:${port}/1`, byOperator);
          const { status, words } = await postWebhook(named, network);
          assert.deepEqual([status, words], ["failed", BLOCKED], found.join());
        }
      }
    }
    // IPv4 in IPv6 reaches what the system makes of it: nobody may name it.
    for (const host of ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"]) {
      for (const byOperator of [true, false]) {
        const outcome = await postWebhook(request(`https://${host}:${port}/`, byOperator), nowhere);
        assert.deepEqual([outcome.status, outcome.words], ["failed", BLOCKED], host);
      }
    }
    for (const host of ["2130706433", "0x7f.1", "017700000001", "127.1", "localhost."]) {
      const outcome = await postWebhook(request(`http://${host}:${port}/`, false), nowhere);
      assert.deepEqual([outcome.status, outcome.words], ["failed", BLOCKED], host);
    }
    assert.equal(receiver.received.length, 0);
  } finally {
    await receiver.close();
  }
});

Deno.test("webhooks: no redirect is followed, of any kind", async () => {
  const [receiver, other] = [startReceiver(), startReceiver()];
  try {
    for (const status of [301, 302, 303, 307, 308]) {
      for (const location of [`${receiver.url}/elsewhere`, `${other.url}/`, "/elsewhere"]) {
        receiver.answer = () => new Response(null, { status, headers: { Location: location } });
        const outcome = await postWebhook(request(`${receiver.url}/in`), nowhere);
        assert.deepEqual(outcome, {
          status: "retry",
          words: `Answered ${status}: redirects are not followed.`,
        });
      }
    }
    assert.ok(receiver.received.every(({ path }) => path === "/in"));
    assert.deepEqual([receiver.received.length, other.received.length], [15, 0]);
  } finally {
    await receiver.close();
    await other.close();
  }
});

Deno.test("webhooks: a receiver that does not answer, or not in HTTP, is described in words", async () => {
  const closed = startReceiver();
  await closed.close();
  const away = await postWebhook(request(closed.url), nowhere);
  assert.deepEqual(away, { status: "retry", words: "It cannot be reached." });
  const silent = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = silent.addr as Deno.NetAddr;
  const late = postWebhook(request(`http://127.0.0.1:${port}/`), { ...nowhere, timeoutMs: 200 });
  const connection = await silent.accept();
  assert.equal((await late).words, "It did not answer in time, or broke off.");
  connection.close();
  const talking = postWebhook(request(`http://127.0.0.1:${port}/`), nowhere);
  const other = await silent.accept();
  await other.write(new TextEncoder().encode("SSH-2.0-OpenSSH_9.2\r\n"));
  assert.equal((await talking).words, "The answer was no HTTP.");
  other.close();
  const hinted = postWebhook(request(`http://127.0.0.1:${port}/`), nowhere);
  const hinting = await silent.accept();
  const hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  for (const part of [hints.slice(0, 40), hints.slice(40), "HTTP/1.1 204 No Content\r\n\r\n"]) {
    await hinting.write(new TextEncoder().encode(part));
  }
  assert.deepEqual(await hinted, { status: "sent", words: "Answered 204." });
  hinting.close();
  silent.close();
  const receiver = startReceiver();
  receiver.answer = () => new Response("secret text of the answer", { status: 410 });
  const gone = await postWebhook(request(receiver.url), nowhere);
  assert.deepEqual(gone, { status: "failed", words: "Answered 410: it is gone." });
  await receiver.close();
});

Deno.test("webhooks: encrypted, with a trusted certificate", async () => {
  const own = await selfSigned();
  const receiver = startReceiver(own);
  try {
    const url = receiver.url.replace("127.0.0.1", "localhost");
    const doubted = await postWebhook(request(url), nowhere);
    assert.deepEqual(doubted, {
      status: "retry",
      words: "Its certificate is not one to believe.",
    });
    assert.equal(receiver.received.length, 0);
    const believed = await postWebhook(request(url), { ...nowhere, caCerts: [own.cert] });
    assert.deepEqual(believed, { status: "sent", words: "Answered 204." });
    assert.equal(receiver.received.length, 1);
  } finally {
    await receiver.close();
  }
});

Deno.test("webhooks: the limit per project is exact", async () => {
  const { WEBHOOKS_MAX } = await import("../../src/notifications/notification_limits.ts");
  const { id } = await people.app.project();
  const put = (n: number) =>
    people.app.admin("PUT", `/v1/webhooks/hook-${n}?project=${id}`, {
      title: "Chat",
      url: "https://hooks.example.com/1",
    });
  for (let n = 0; n < WEBHOOKS_MAX; n++) assert.equal((await put(n)).status, 201);
  assertProblem(await put(WEBHOOKS_MAX), 409, "conflict");
  assert.equal((await put(0)).status, 200, "those that are there can be changed");
});
