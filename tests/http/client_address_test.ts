import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import {
  createClientAddress,
  ipForStorage,
  parseTrustedProxies,
} from "../../src/http/client_address.ts";

function clientAddress(
  trust: string,
  peer: string | null,
  headers: Record<string, string>,
): string | null {
  const trusted = parseTrustedProxies(trust);
  if (typeof trusted === "string") throw new Error(trusted);
  return createClientAddress(trusted)(peer, new Headers(headers));
}

const xff = (value: string) => ({ "X-Forwarded-For": value });
const forwarded = (value: string) => ({ Forwarded: value });

Deno.test("createClientAddress: without trust, no header changes the answer", () => {
  const value = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.stringMatching(/^[ -~]{0,40}$/),
    fc.array(fc.ipV4()).map((list) => list.join(", ")),
  );
  const name = fc.constantFrom(
    "X-Forwarded-For",
    "Forwarded",
    "X-Real-IP",
    "CF-Connecting-IP",
    "Via",
  );
  fc.assert(fc.property(
    fc.dictionary(name, value),
    fc.ipV4(),
    fc.constantFrom("", "0", "255.255.255.255/32, 10.0.0.0/8"),
    (headers, host, trust) => {
      const peer = host.startsWith("10.") || host === "255.255.255.255" ? "9.9.9.9" : host;
      strictEqual(clientAddress(trust, peer, headers), peer);
    },
  ));
});

Deno.test("createClientAddress: walks X-Forwarded-For from the right past trusted addresses", () => {
  const trust = "10.0.0.0/8, loopback";
  const cases: [string, string | null][] = [
    ["203.0.113.9", "203.0.113.9"],
    ["6.6.6.6, 203.0.113.9", "203.0.113.9"],
    ["6.6.6.6, 203.0.113.9, 10.2.2.2", "203.0.113.9"],
    ["203.0.113.9,10.2.2.2 , 10.3.3.3:4711", "203.0.113.9"],
    ["2001:DB8::1, ::ffff:10.2.2.2", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["10.4.4.4, 10.2.2.2", "10.4.4.4"],
    ["6.6.6.6, garbage, 10.2.2.2", "10.2.2.2"],
    ["6.6.6.6, garbage", "10.1.1.1"],
    ["unknown", "10.1.1.1"],
    ["203.0.113.9, , 10.2.2.2,", "203.0.113.9"],
    ["", "10.1.1.1"],
  ];
  for (const [list, answer] of cases) {
    strictEqual(clientAddress(trust, "10.1.1.1", xff(list)), answer, list);
  }
  strictEqual(clientAddress(trust, "::ffff:10.1.1.1", xff("203.0.113.9")), "203.0.113.9");
  strictEqual(clientAddress(trust, "::1", xff("203.0.113.9")), "203.0.113.9");
  strictEqual(clientAddress(trust, "9.9.9.9", xff("203.0.113.9")), "9.9.9.9");
  strictEqual(clientAddress(trust, null, xff("203.0.113.9")), null);
  strictEqual(clientAddress(trust, "10.1.1.1", {}), "10.1.1.1");
});

Deno.test("createClientAddress: with a count, takes that many from the right", () => {
  const list = "1.1.1.1, 2.2.2.2, 3.3.3.3";
  strictEqual(clientAddress("1", "9.9.9.9", xff(list)), "3.3.3.3");
  strictEqual(clientAddress("2", "9.9.9.9", xff(list)), "2.2.2.2");
  strictEqual(clientAddress("3", null, xff(list)), "1.1.1.1");
  strictEqual(clientAddress("4", "9.9.9.9", xff(list)), "1.1.1.1");
  strictEqual(clientAddress("2", "9.9.9.9", xff("1.1.1.1, x, 3.3.3.3")), "3.3.3.3");
  strictEqual(clientAddress("2", "9.9.9.9", xff("1.1.1.1, x")), "9.9.9.9");
  strictEqual(clientAddress("2", "9.9.9.9", {}), "9.9.9.9");
});

Deno.test("createClientAddress: reads Forwarded only if X-Forwarded-For is absent", () => {
  const cases: [string, string][] = [
    ["for=203.0.113.9", "203.0.113.9"],
    ['For="[2001:db8::1]:4711";proto=https;by=10.0.0.1', "2001:db8::1"],
    ['for=6.6.6.6, for="203.0.113.9:80";host=a.example', "203.0.113.9"],
    ["proto=https ; for=203.0.113.9 ;", "203.0.113.9"],
    ["for=203.0.113.9, for=10.2.2.2", "203.0.113.9"],
    ["for=6.6.6.6, for=unknown", "10.1.1.1"],
    ["for=6.6.6.6, for=_hidden, for=10.2.2.2", "10.2.2.2"],
    ["for=6.6.6.6, proto=https", "10.1.1.1"],
    ["for=6.6.6.6;for=7.7.7.7", "10.1.1.1"],
    // Quoted text that a client chose and a proxy passed on must not become an entry of its own.
    ['for=203.0.113.9;host="a,for=6.6.6.6"', "10.1.1.1"],
    ['for=203.0.113.9;host="a,for=6.6.6.6;x=\\"b\\""', "10.1.1.1"],
    ['for=", for=203.0.113.9', "203.0.113.9"],
  ];
  for (const [list, answer] of cases) {
    strictEqual(clientAddress("10.0.0.0/8", "10.1.1.1", forwarded(list)), answer, list);
  }
  const both = { ...xff("203.0.113.9"), ...forwarded("for=6.6.6.6") };
  strictEqual(clientAddress("10.0.0.0/8", "10.1.1.1", both), "203.0.113.9");
  strictEqual(clientAddress("10.0.0.0/8", "10.1.1.1", { ...both, ...xff("") }), "10.1.1.1");
});

Deno.test("createClientAddress: reads the last 8 KiB and 100 entries, and never half an address", () => {
  const trusted = Array.from({ length: 99 }, () => "10.2.2.2").join(",");
  strictEqual(clientAddress("private", "10.1.1.1", xff(`203.0.113.9,${trusted}`)), "203.0.113.9");
  strictEqual(
    clientAddress("private", "10.1.1.1", xff(`203.0.113.9,10.3.3.3,${trusted}`)),
    "10.3.3.3",
  );
  // The list is cut behind the first digit of 103.0.113.9.
  const cut = `103.0.113.9,${" ".repeat(8192 - "03.0.113.9,10.2.2.2".length)}10.2.2.2`;
  strictEqual(cut.length, 8193);
  strictEqual(clientAddress("private", "10.1.1.1", xff(cut)), "10.2.2.2");
});

Deno.test("createClientAddress: whatever a client writes, the proxy's own entry decides", () => {
  fc.assert(fc.property(fc.stringMatching(/^[ -~]{0,60}$/), fc.ipV4(), (own, client) => {
    const answer = client.startsWith("10.") ? "9.9.9.9" : client;
    strictEqual(clientAddress("10.0.0.0/8", "10.1.1.1", xff(`${own}, ${answer}`)), answer);
    strictEqual(clientAddress("1", "10.1.1.1", forwarded(`${own}, for=${answer}`)), answer);
  }));
});

Deno.test("parseTrustedProxies: names the entry that it cannot read", () => {
  for (const text of ["10.0.0.0/8, proxy.example", "1, 10.0.0.0/8 x", "10.0.0.0/64", "-1", "1.5"]) {
    const result = parseTrustedProxies(text);
    if (typeof result !== "string") throw new Error(`taken: ${text}`);
    match(result, /"(proxy\.example|1|10\.0\.0\.0\/64|-1|1\.5)"/);
  }
  match(String(parseTrustedProxies("101")), /at most 100/);
  strictEqual(typeof parseTrustedProxies(" Loopback linklocal,private\n::1 "), "object");
});

Deno.test("ipForStorage: the whole address, its network, or nothing", () => {
  strictEqual(ipForStorage("8.8.8.8", "full"), "8.8.8.8");
  strictEqual(ipForStorage("::ffff:8.8.8.8", "full"), "8.8.8.8");
  strictEqual(ipForStorage("8.8.8.8", "truncated"), "8.8.8.0");
  strictEqual(ipForStorage("2001:db8:1:2::3", "truncated"), "2001:db8:1::");
  strictEqual(ipForStorage("8.8.8.8", "none"), null);
  strictEqual(ipForStorage(null, "full"), null);
  strictEqual(ipForStorage("text", "full"), null);
});

Deno.test("createClientAddress: different peers one after the other get their own addresses", () => {
  const trusted = parseTrustedProxies("10.0.0.1");
  if (typeof trusted === "string") throw new Error(trusted);
  const addressOf = createClientAddress(trusted);
  const headers = new Headers({ "X-Forwarded-For": "203.0.113.7" });
  const peers = ["10.0.0.1", "10.0.0.1", "10.0.0.2", null, "10.0.0.2", "10.0.0.1"];
  const through = "203.0.113.7";
  const found = peers.map((peer) => addressOf(peer, headers));
  deepStrictEqual(found, [through, through, "10.0.0.2", null, "10.0.0.2", through]);
});
