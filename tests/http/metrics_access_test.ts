import assert from "node:assert/strict";
import { parseTrustedProxies, type TrustedProxies } from "../../src/http/client_address.ts";
import { createMetricsAccess } from "../../src/http/metrics_access.ts";

const TOKEN = "0123456789abcdef";
const VISITOR = "203.0.113.9";

function trusting(text: string): TrustedProxies {
  const trusted = parseTrustedProxies(text);
  assert.ok(typeof trusted !== "string", String(trusted));
  return trusted;
}

type Case = [peer: string | null, headers: Record<string, string>, isOpen: boolean];

function check(proxies: string, cases: readonly Case[]): void {
  const mayRead = createMetricsAccess(trusting(proxies), TOKEN);
  for (const [peer, headers, isOpen] of cases) {
    const told = `${proxies}: ${peer} ${JSON.stringify(headers)}`;
    assert.equal(mayRead(peer, new Headers(headers)), isOpen, told);
  }
}

Deno.test("metrics: without proxies, only direct requests of this machine may read them", () => {
  check("", [
    ["127.0.0.1", {}, true],
    ["::1", {}, true],
    ["::ffff:127.0.0.1", {}, true],
    [VISITOR, {}, false],
    ["10.0.0.1", {}, false],
    [null, {}, false],
    // A proxy on this machine that is not configured.
    ["127.0.0.1", { "X-Forwarded-For": VISITOR }, false],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1" }, false],
    ["127.0.0.1", { "X-Real-IP": VISITOR }, false],
    ["127.0.0.1", { "Via": "1.1 proxy" }, false],
    [VISITOR, { "X-Forwarded-For": "127.0.0.1" }, false],
  ]);
});

Deno.test("metrics: trusted proxies may read them, but not their visitors", () => {
  check("10.0.0.0/8, loopback", [
    ["10.0.0.2", {}, true],
    ["127.0.0.1", {}, true],
    ["10.0.0.2", { "X-Forwarded-For": VISITOR }, false],
    ["10.0.0.2", { "X-Forwarded-For": `127.0.0.1, ${VISITOR}` }, false],
    ["10.0.0.2", { "X-Forwarded-For": `${VISITOR}, 10.0.0.3` }, false],
    ["10.0.0.2", { "X-Forwarded-For": "unknown" }, false],
    ["10.0.0.2", { "X-Forwarded-For": "unknown, 10.0.0.3" }, false],
    ["10.0.0.2", { "X-Forwarded-For": "" }, false],
    ["10.0.0.2", { "X-Forwarded-For": "10.0.0.3,".repeat(2_000) }, false],
    ["10.0.0.2", { "Forwarded": `for=${VISITOR}` }, false],
    ["10.0.0.2", { "Forwarded": "for=_hidden" }, false],
    ["10.0.0.2", { "X-Real-IP": "10.0.0.3" }, false],
    ["10.0.0.2", { "X-Forwarded-For": "10.0.0.3" }, true],
    ["127.0.0.1", { "Forwarded": "for=127.0.0.1" }, true],
    [VISITOR, { "X-Forwarded-For": "10.0.0.3" }, false],
  ]);
  check("1", [
    ["127.0.0.1", {}, true],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1" }, false],
    ["10.0.0.2", {}, false],
  ]);
});

Deno.test("metrics: the token opens them from everywhere, and no other token does", () => {
  const passedOn = { "X-Forwarded-For": VISITOR };
  check("10.0.0.0/8", [
    [VISITOR, { "Authorization": `Bearer ${TOKEN}` }, true],
    [null, { "Authorization": `bearer  ${TOKEN}` }, true],
    ["10.0.0.2", { ...passedOn, "Authorization": `Bearer ${TOKEN}` }, true],
    [VISITOR, { "Authorization": `Bearer ${TOKEN}0` }, false],
    [VISITOR, { "Authorization": `Bearer ${TOKEN.slice(1)}` }, false],
    [VISITOR, { "Authorization": "Bearer " }, false],
    [VISITOR, { "Authorization": `Basic ${TOKEN}` }, false],
    ["127.0.0.1", { "Authorization": "Bearer wrong" }, true],
  ]);
  const closed = createMetricsAccess(trusting(""), null);
  assert.equal(closed(VISITOR, new Headers({ "Authorization": "Bearer null" })), false);
});
