import assert from "node:assert/strict";
import type { EgressProxy } from "../../src/screenshots/egress/egress_proxy.ts";
import { pause, until, within } from "../support/server_process.ts";
import {
  ask,
  connect,
  get,
  Listener,
  OPENED,
  outcomeOf,
  type Peer,
  proxyFor,
  Site,
  startProxy,
  tunnel,
  urlOf,
  WAIT_MS_MAX,
} from "./egress_world.ts";

const MEBIBYTE = 1024 * 1024;

/** Sends until the other side takes no more. */
async function flood(peer: Peer): Promise<void> {
  const block = new Uint8Array(64 * 1024);
  for (;;) if (await peer.socket.write(block) === 0) return;
}

/** Browsers that have said this. */
async function connectAll(proxy: EgressProxy, texts: readonly string[]): Promise<Peer[]> {
  return await Promise.all(texts.map(async (text) => {
    const peer = await connect(proxy);
    await peer.send(text);
    return peer;
  }));
}

/** Waits for the end of each connection. */
async function haveEnded(peers: readonly Peer[]): Promise<void> {
  for (const peer of peers) {
    await peer.rest();
    peer[Symbol.dispose]();
  }
}

Deno.test("egress: silence of both sides ends a connection", async () => {
  await using site = new Listener(async (peer) => {
    await peer.rest();
  });
  await using proxy = await proxyFor(site, { idleMsMax: 50 });
  assert.equal(await ask(proxy, tunnel(`127.0.0.1:${site.port}`)), OPENED);
  assert.equal(await ask(proxy, get(urlOf(site))), "");
});

Deno.test("egress: a slow reader slows the sender down, and gets everything in the end", async () => {
  const size = 40 * MEBIBYTE;
  await using site = new Listener(async (peer) => {
    await peer.until("\r\n\r\n");
    await peer.send(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    await peer.send(new Uint8Array(size));
    await peer.rest();
  });
  await using proxy = await proxyFor(site);
  using peer = await connect(proxy);
  await peer.send(get(urlOf(site)));
  let seen = -1;
  await until(WAIT_MS_MAX, async () => {
    const before = seen;
    await pause(200);
    seen = proxy.log()[0]?.bytes ?? 0;
    return seen > 0 && seen === before;
  }, "nothing more passes");
  assert.ok(seen < size / 2, `${seen} bytes were taken for a reader that read none`);
  let got = 0;
  const buffer = new Uint8Array(MEBIBYTE);
  for (let n = await peer.socket.read(buffer); n !== null; n = await peer.socket.read(buffer)) {
    got += n;
  }
  assert.ok(got > size && got < size + 200, `${got} bytes of ${size} and a head`);
});

Deno.test("egress: too many bytes end every connection, and no more are opened", async () => {
  await using site = new Listener(async (peer) => {
    const head = await peer.until("\r\n\r\n");
    await peer.send("HTTP/1.1 200 OK\r\n\r\n");
    if (head.startsWith("GET /flood")) await flood(peer);
    await peer.rest();
  });
  await using proxy = await proxyFor(site, { bytesMax: MEBIBYTE });
  using quiet = await connect(proxy);
  await quiet.send(tunnel(`127.0.0.1:${site.port}`) + "GET /quiet HTTP/1.1\r\n\r\n");
  await quiet.until(`${OPENED}HTTP/1.1 200 OK\r\n\r\n`);
  const flooded = await ask(proxy, get(`${urlOf(site)}/flood`));
  assert.ok(flooded.length <= MEBIBYTE, `${flooded.length} bytes came through`);
  assert.equal(await quiet.rest(), "");
  const answers = [await ask(proxy, get(urlOf(site))), await ask(proxy, tunnel("127.0.0.1:1"))];
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 403 [^]*Egress: too_much\r\n/);
  assert.deepEqual(proxy.log().map(({ outcome }) => outcome), Array(4).fill("too_much"));
  assert.equal(site.connections, 2);
});

Deno.test("egress: bytes that the browser sends count as well", async () => {
  await using site = new Listener(async (peer) => {
    await peer.rest();
  });
  await using proxy = await proxyFor(site, { bytesMax: MEBIBYTE });
  using peer = await connect(proxy);
  await peer.send(tunnel(`127.0.0.1:${site.port}`));
  await peer.until(OPENED);
  await flood(peer).catch(() => {});
  assert.equal(outcomeOf(proxy), "too_much");
});

Deno.test("egress: too many connections, refused ones included, end what is open; the log stays small", async () => {
  await using site = new Listener(async (peer) => {
    await peer.rest();
  });
  await using proxy = await proxyFor(site, { connectionsMax: 3 });
  using first = await connect(proxy);
  await first.send(tunnel(`127.0.0.1:${site.port}`));
  await first.until(OPENED);
  for (let i = 0; i < 2; i++) await ask(proxy, tunnel("127.0.0.1:9"));
  assert.equal(proxy.log()[0]?.outcome, "open");
  for (let i = 0; i < 10; i++) {
    assert.match(await ask(proxy, get(urlOf(site))), /^HTTP\/1\.1 403 [^]*Egress: too_much\r\n/);
  }
  assert.equal(await first.rest(), "");
  const outcomes = proxy.log().map(({ outcome }) => outcome);
  const blocked = ["blocked_address", "blocked_address"];
  assert.deepEqual(outcomes, ["too_much", ...blocked, ...Array(3).fill("too_much")]);
  assert.equal(site.connections, 1);
});

Deno.test("egress: no more connections at once than allowed; the others wait for their turn", async () => {
  await using site = new Site();
  await using proxy = await proxyFor(site, { connectionsAtOnceMax: 2 });
  using one = await connect(proxy);
  using two = await connect(proxy);
  for (const peer of [one, two]) {
    await peer.send(tunnel(`127.0.0.1:${site.port}`));
    await peer.until(OPENED);
  }
  using three = await connect(proxy);
  await three.send(get(urlOf(site)));
  await pause(100);
  assert.deepEqual([site.connections, proxy.log().length], [2, 2]);
  one.socket.close();
  assert.match(await three.rest(), /hello$/);
});

Deno.test("egress: disposing ends open and waiting connections, and keeps the log", async () => {
  await using site = new Listener(async (peer) => {
    const head = await peer.until("\r\n\r\n");
    await peer.send("HTTP/1.1 200 OK\r\n\r\n");
    if (head.startsWith("GET /flood")) await flood(peer);
    await peer.rest();
  });
  const proxy = await proxyFor(site, { connectionsAtOnceMax: 5 });
  const inTunnel = tunnel(`127.0.0.1:${site.port}`) + "GET /flood HTTP/1.1\r\n\r\n";
  const open = await connectAll(proxy, [get(`${urlOf(site)}/flood`), get(urlOf(site)), inTunnel]);
  for (const peer of open) await peer.until(" 200 ");
  // Two that have not asked yet, and one that nobody has taken notice of.
  const waiting = await connectAll(proxy, ["GET", "", get(urlOf(site))]);
  await proxy[Symbol.asyncDispose]();
  await haveEnded([...open, ...waiting]);
  assert.deepEqual(proxy.log().map(({ outcome }) => outcome), ["open", "open", "open"]);
});

Deno.test("egress: disposing waits for no look-up and no dial; one that succeeds later is closed", async () => {
  await using site = new Site();
  const look = Promise.withResolvers<string[]>();
  const dial = Promise.withResolvers<Deno.TcpConn>();
  const begun: string[] = [];
  const patience = { resolveMsMax: 2 * WAIT_MS_MAX, connectMsMax: 2 * WAIT_MS_MAX };
  const proxies = [
    await startProxy({ ...patience, resolve: (host) => (begun.push(host), look.promise) }),
    await startProxy({
      ...patience,
      resolve: () => Promise.resolve(["1.1.1.1"]),
      dial: (address) => (begun.push(address), dial.promise),
    }),
  ];
  for (const proxy of proxies) {
    const seen = begun.length;
    const peers = await connectAll(proxy, [tunnel("stuck.example:443")]);
    await until(WAIT_MS_MAX, () => Promise.resolve(begun.length > seen), "it has begun");
    await within(WAIT_MS_MAX, proxy[Symbol.asyncDispose](), "Disposing");
    await haveEnded(peers);
    assert.deepEqual(proxy.log(), []);
  }
  look.resolve(["1.1.1.1"]);
  const late = await Deno.connect({ hostname: "127.0.0.1", port: site.port });
  dial.resolve(late);
  await pause(0);
  await assert.rejects(late.write(new Uint8Array(1)), "it has been closed");
  assert.deepEqual(begun, ["stuck.example", "1.1.1.1"]);
});

Deno.test("egress: a dial that succeeds after the limits are reached opens nothing", async () => {
  await using site = new Site();
  const dial = Promise.withResolvers<Deno.TcpConn>();
  const begun = Promise.withResolvers<void>();
  await using proxy = await startProxy({
    resolve: () => Promise.resolve(["1.1.1.1"]),
    dial: () => (begun.resolve(), dial.promise),
    connectionsMax: 1,
  });
  using first = await connect(proxy);
  await first.send(tunnel("late.example:443"));
  await begun.promise;
  await ask(proxy, tunnel("second.example:443"));
  dial.resolve(await Deno.connect({ hostname: "127.0.0.1", port: site.port }));
  assert.match(await first.rest(), /^HTTP\/1\.1 403 [^]*Egress: too_much\r\n/);
  assert.deepEqual(proxy.log().map(({ outcome }) => outcome), ["too_much", "too_much"]);
});
