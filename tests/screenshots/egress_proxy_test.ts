import assert from "node:assert/strict";
import { EgressProxy, egressSiteOf } from "../../src/screenshots/egress/egress_proxy.ts";
import { isOwnNetworkAddress } from "../../src/screenshots/egress/ip_ranges.ts";
import {
  ask,
  Dialler,
  get,
  Listener,
  outcomeOf,
  Site,
  startProxy,
  tunnel,
} from "./egress_world.ts";

const PUBLIC_ADDRESS = "93.184.216.34";
const OTHER_PUBLIC_ADDRESS = "2606:2800:220:1::1";
const REFUSED = /^HTTP\/1\.1 403 Forbidden\r\nX-Footfall-Egress: (\w+)\r\n/;
const FAILED = /^HTTP\/1\.1 502 Bad Gateway\r\nX-Footfall-Egress: (\w+)\r\n/;

/** Whatever comes in at the loopback, over IPv4 or IPv6. */
function privateListener(): Site {
  return new Site("secret", "::");
}

/** Writings of addresses that lead to the own machine, or might on some system. */
const OWN_MACHINE = [
  ...["127.0.0.1", "127.0.0.1.", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1"],
  ...["017700000001", "0X7F.0.0.0x1", "127.000.000.001", "0.0.0.0", "0", "%31%32%37.0.0.1"],
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
  ...["[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]"],
  ...["localhost", "localhost.", "LOCALHOST", "local%68ost", "www.localhost", "a.localhost."],
];

Deno.test("egressSiteOf: host and port as URL writes them, and whether the host is an address or localhost", () => {
  const sites: [string, string, number, boolean][] = [
    ["https://Example.com/a?b", "example.com", 443, false],
    ["http://example.com:8080", "example.com", 8080, false],
    ["http://127.1:3000", "127.0.0.1", 3000, true],
    ["http://[::1]", "[::1]", 80, true],
    ["http://localhost:8000/", "localhost", 8000, true],
    ["https://8.8.8.8", "8.8.8.8", 443, true],
    ["http://www.localhost", "www.localhost", 80, false],
  ];
  for (const [url, host, port, isLiteral] of sites) {
    assert.deepEqual(egressSiteOf(url), { host, port, isLiteral }, url);
  }
  for (const url of ["ftp://example.com", "file:///etc/passwd", "example.com", ""]) {
    assert.throws(() => egressSiteOf(url), TypeError, url);
  }
});

Deno.test("egress: no spelling of an address or name reaches this machine, except the site", async () => {
  await using site = new Site();
  await using secret = privateListener();
  for (const siteUrl of [`http://127.0.0.1:${site.port}`, "https://site.example"]) {
    await using proxy = await startProxy({ siteUrl });
    for (const host of OWN_MACHINE) {
      for (
        const said of [get(`http://${host}:${secret.port}/`), tunnel(`${host}:${secret.port}`)]
      ) {
        assert.equal(REFUSED.exec(await ask(proxy, said))?.[1], "blocked_address", said);
        assert.equal(outcomeOf(proxy), "blocked_address", said);
      }
    }
    assert.equal(proxy.log().length, 2 * OWN_MACHINE.length);
  }
  assert.equal(secret.connections, 0);
});

Deno.test("egress: a refusal is logged with the host and port of the requested URL", async () => {
  await using proxy = await startProxy();
  const url = new URL("http://[::FFFF:127.0.0.1]:81/a");
  await ask(proxy, get(url.href));
  await ask(proxy, tunnel("Example.COM.:22"));
  assert.deepEqual(proxy.log(), [
    { host: url.hostname, port: 81, outcome: "blocked_address", bytes: 0 },
    { host: "example.com.", port: 22, outcome: "blocked_port", bytes: 0 },
  ]);
});

Deno.test("egress: a name is refused if any of its addresses is denied", async () => {
  await using secret = privateListener();
  const answers = [
    ["127.0.0.1"],
    [PUBLIC_ADDRESS, "127.0.0.1"],
    ["::1", OTHER_PUBLIC_ADDRESS],
    [PUBLIC_ADDRESS, "10.0.0.1"],
    ["::ffff:127.0.0.1"],
    [PUBLIC_ADDRESS, "not an address"],
    [PUBLIC_ADDRESS, "169.254.169.254"],
    ["0.0.0.0"],
  ];
  for (const answer of answers) {
    const dialler = new Dialler(() => secret.port);
    const resolve = () => Promise.resolve(answer);
    await using proxy = await startProxy({ resolve, dial: dialler.dial });
    for (const said of [get("http://rebind.example/"), tunnel("rebind.example:443")]) {
      assert.equal(REFUSED.exec(await ask(proxy, said))?.[1], "blocked_address", String(answer));
      assert.equal(outcomeOf(proxy), "blocked_address");
    }
    assert.deepEqual(dialler.dialled, []);
  }
  assert.equal(secret.connections, 0);
});

const PRIVATE_NAME = privateName();

/** A name of /etc/hosts for an address of the own machine or network; null: there is none. */
function privateName(): string | null {
  const lines = Deno.readTextFileSync("/etc/hosts").split("\n");
  for (const [address = "", ...names] of lines.map((line) => line.split("#")[0]!.split(/\s+/))) {
    const name = names.find((name) => name !== "" && !name.endsWith("localhost"));
    if (name !== undefined && isOwnNetworkAddress(address)) return name;
  }
  return null;
}

Deno.test({
  name: "egress: the system's resolver knows private names, and they are blocked as well",
  ignore: PRIVATE_NAME === null,
  fn: async () => {
    await using secret = privateListener();
    const site = egressSiteOf(`http://${PRIVATE_NAME}:${secret.port}`);
    await using proxy = await EgressProxy.start({ site, blockedHosts: () => false });
    const said = await ask(proxy, get(`http://${PRIVATE_NAME}:${secret.port}/`));
    assert.equal(REFUSED.exec(said)?.[1], "blocked_address");
    assert.equal(secret.connections, 0);
  },
});

Deno.test("egress: a name that the system does not know is unresolved", async () => {
  const site = egressSiteOf("https://site.example");
  await using proxy = await EgressProxy.start({ site, blockedHosts: () => false });
  assert.equal(FAILED.exec(await ask(proxy, tunnel("nobody.invalid:443")))?.[1], "unresolved");
});

Deno.test("egress: a name is resolved once, and the checked address is dialled", async () => {
  await using site = new Site();
  const dialler = new Dialler(() => site.port);
  const asked: string[] = [];
  const resolve = (host: string) => {
    asked.push(host);
    return Promise.resolve(asked.length === 1 ? [PUBLIC_ADDRESS] : ["127.0.0.1"]);
  };
  await using proxy = await startProxy({ resolve, dial: dialler.dial });
  for (let i = 0; i < 3; i++) {
    assert.match(await ask(proxy, get("http://rebind.example/")), /hello$/);
  }
  assert.deepEqual(asked, ["rebind.example"]);
  assert.deepEqual(dialler.dialled, Array(3).fill(`${PUBLIC_ADDRESS} 80`));
});

Deno.test("egress: the next address is dialled if one does not answer, and a failed look-up is repeated", async () => {
  await using site = new Site();
  const dialler = new Dialler((address) => address === PUBLIC_ADDRESS ? site.port : null);
  let look = 0;
  const resolve = () =>
    look++ === 0
      ? Promise.reject(new Error("no such name"))
      : Promise.resolve([OTHER_PUBLIC_ADDRESS, PUBLIC_ADDRESS]);
  await using proxy = await startProxy({ resolve, dial: dialler.dial });
  assert.equal(FAILED.exec(await ask(proxy, get("http://two.example/")))?.[1], "unresolved");
  assert.match(await ask(proxy, get("http://two.example/")), /hello$/);
  assert.deepEqual(dialler.dialled, [`${OTHER_PUBLIC_ADDRESS} 80`, `${PUBLIC_ADDRESS} 80`]);
  assert.deepEqual(proxy.log().map(({ outcome }) => outcome), ["unresolved", "open"]);
});

Deno.test("egress: no server, no such name, no answer in time", async () => {
  const dialler = new Dialler(() => null);
  const never = () => new Promise<never>(() => {});
  const found = () => Promise.resolve([PUBLIC_ADDRESS]);
  const cases = [
    { outcome: "unreachable", options: { resolve: found, dial: dialler.dial } },
    { outcome: "unreachable", options: { resolve: found, dial: never, connectMsMax: 20 } },
    { outcome: "unresolved", options: { resolve: () => Promise.resolve([]) } },
    { outcome: "unresolved", options: { resolve: never, resolveMsMax: 20 } },
  ];
  for (const { outcome, options } of cases) {
    await using proxy = await startProxy(options);
    for (const said of [get("http://away.example/"), tunnel("away.example:443")]) {
      assert.equal(FAILED.exec(await ask(proxy, said))?.[1], outcome);
      assert.equal(outcomeOf(proxy), outcome);
    }
  }
});

Deno.test("egress: ports 80 and 443, and the site's own port only on the site's host", async () => {
  await using site = new Site();
  const dialler = new Dialler(() => site.port);
  const resolve = () => Promise.resolve([PUBLIC_ADDRESS]);
  const siteUrl = "http://site.example:8080";
  await using proxy = await startProxy({ siteUrl, resolve, dial: dialler.dial });
  const outcomes: [string, string][] = [
    ["http://site.example:8080/", "open"],
    ["http://site.example.:8080/", "open"],
    ["http://site.example/", "open"],
    ["http://other.example:443/", "open"],
    [`http://${PUBLIC_ADDRESS}/`, "open"],
    ["http://other.example:8080/", "blocked_port"],
    ["http://site.example:8081/", "blocked_port"],
    ["http://site.example:0/", "blocked_port"],
    ["http://www.site.example:8080/", "blocked_port"],
    [`http://${PUBLIC_ADDRESS}:8080/`, "blocked_port"],
    ["http://other.example:25/", "blocked_port"],
  ];
  for (const [target, outcome] of outcomes) {
    const answer = await ask(proxy, get(target));
    assert.equal(outcomeOf(proxy), outcome, target);
    assert.equal(REFUSED.exec(answer)?.[1] ?? "open", outcome, target);
  }
  assert.equal(dialler.dialled.length, 5);
});

Deno.test("egress: a private site is reached if it was configured by address, and only by that address", async () => {
  const dials: [siteUrl: string, target: string, dialled: string | null][] = [
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000/", "127.0.0.1 3000"],
    ["http://127.0.0.1:3000", "http://0x7f.1:3000/", "127.0.0.1 3000"],
    ["http://127.0.0.1:3000", "http://127.0.0.1/", null],
    ["http://127.0.0.1:3000", "http://127.0.0.1:443/", null],
    ["http://127.0.0.1:3000", "http://127.0.0.2:3000/", null],
    ["http://127.0.0.1:3000", "http://localhost:3000/", null],
    ["http://127.0.0.1:3000", "http://[::1]:3000/", null],
    ["http://127.0.0.1:3000", "http://[::ffff:127.0.0.1]:3000/", null],
    ["http://[::1]:3000", "http://[::1]:3000/", "::1 3000"],
    ["http://localhost:3000", "http://localhost:3000/", "127.0.0.1 3000"],
    ["http://localhost:3000", "http://127.0.0.1:3000/", null],
    ["http://localhost:3000", "http://localhost:3001/", null],
    ["http://10.1.2.3", "http://10.1.2.3/", "10.1.2.3 80"],
    ["http://10.1.2.3", "http://10.1.2.3:443/", null],
    ["http://[fd12::1]:81", "http://[fd12::1]:81/", "fd12::1 81"],
    // Typed, and still nobody's site.
    ["http://169.254.169.254", "http://169.254.169.254/", null],
    ["http://[fd00:ec2::254]", "http://[fd00:ec2::254]/", null],
    ["http://0.0.0.0:3000", "http://0.0.0.0:3000/", null],
    ["http://[::ffff:127.0.0.1]:3000", "http://[::ffff:127.0.0.1]:3000/", null],
    // Names of the own network.
    ["http://intranet.example", "http://intranet.example/", null],
    ["http://shop.localhost", "http://shop.localhost/", null],
  ];
  await using site = new Site();
  for (const [siteUrl, target, dialled] of dials) {
    const dialler = new Dialler(() => site.port);
    const resolve = () => Promise.resolve(["10.1.2.3"]);
    await using proxy = await startProxy({ siteUrl, resolve, dial: dialler.dial });
    await ask(proxy, get(target));
    assert.deepEqual(dialler.dialled, dialled === null ? [] : [dialled], `${siteUrl}: ${target}`);
    assert.equal(outcomeOf(proxy), dialled === null ? "blocked_address" : "open", target);
  }
});

Deno.test("egress: `localhost` is loopback of both families, whatever a resolver says", async () => {
  const dialler = new Dialler(() => null);
  const resolve = () => Promise.resolve([PUBLIC_ADDRESS]);
  await using proxy = await startProxy({
    siteUrl: "http://localhost:3000",
    resolve,
    dial: dialler.dial,
  });
  await ask(proxy, get("http://localhost:3000/"));
  assert.deepEqual(dialler.dialled, ["127.0.0.1 3000", "::1 3000"]);
});

Deno.test("egress: blocked hosts are not even looked up, with and without a final dot", async () => {
  const asked: string[] = [];
  await using proxy = await startProxy({
    blockedHosts: (host) => host === "tracker.example" || host === "127.0.0.1",
    resolve: (host) => Promise.reject(asked.push(host)),
  });
  for (const host of ["tracker.example", "Tracker.Example.", "127.1"]) {
    const answer = await ask(proxy, tunnel(`${host}:443`));
    assert.equal(REFUSED.exec(answer)?.[1], "blocked_host");
    assert.equal(outcomeOf(proxy), "blocked_host");
  }
  assert.deepEqual(asked, []);
});

Deno.test("egress: it listens only on loopback, and not after it is disposed of", async () => {
  const proxy = await startProxy();
  const { hostname, port } = new URL(proxy.url);
  assert.equal(hostname, "127.0.0.1");
  await assert.rejects(Deno.connect({ hostname: "127.0.0.2", port: Number(port) }));
  await proxy[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await assert.rejects(Deno.connect({ hostname, port: Number(port) }));
});

Deno.test("egress: a refusal is the same whether or not a server listens there", async () => {
  await using secret = privateListener();
  const closed = new Listener(() => Promise.resolve());
  const { port } = closed;
  await closed[Symbol.asyncDispose]();
  await using proxy = await startProxy();
  const answers = [];
  for (const p of [secret.port, port]) {
    answers.push(await ask(proxy, get(`http://127.0.0.1:${p}/`)));
  }
  assert.equal(answers[0], answers[1]);
});
