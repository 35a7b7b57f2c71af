import assert from "node:assert/strict";
import { pause, until } from "../support/server_process.ts";
import {
  ask,
  connect,
  get,
  Listener,
  OPENED,
  outcomeOf,
  proxyFor,
  Site,
  tunnel,
  urlOf,
  WAIT_MS_MAX,
} from "./egress_world.ts";

Deno.test("egress: a request is forwarded in origin form, for this site, without fields of the connection", async () => {
  await using site = new Site();
  await using proxy = await proxyFor(site);
  const said = [
    `GET ${urlOf(site)}/a/../b?c=%20&d=1#e HTTP/1.1`,
    "Host: internal.example",
    "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic c2VjcmV0",
    "Connection: keep-alive, X-Hop, Content-Length",
    "Keep-Alive: timeout=5",
    "X-Hop: 1",
    "TE: trailers",
    "Upgrade: websocket",
    "Cookie: a=b",
    "Accept:text/html",
  ];
  const answer = await ask(proxy, said.join("\r\n") + "\r\n\r\n");
  assert.deepEqual(site.heads[0]?.split("\r\n"), [
    "GET /a/../b?c=%20&d=1 HTTP/1.1",
    `Host: 127.0.0.1:${site.port}`,
    "Cookie: a=b",
    "Accept:text/html",
    "Connection: close",
    "",
    "",
  ]);
  assert.equal(answer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
  await ask(proxy, get(`${urlOf(site)}?q`));
  assert.match(site.heads[1]!, /^GET \/\?q HTTP\/1\.1\r\n/);
});

Deno.test("egress: a response loses fields that keep the connection open, and cannot pose as a refusal", async () => {
  const head =
    "HTTP/1.0 418 I am\r\nConnection: keep-alive, X-Gone, Transfer-Encoding\r\nX-Gone: 1\r\n" +
    "Keep-Alive: timeout=99\r\nProxy-Authenticate: Basic\r\nX-Footfall-Egress: blocked_address\r\n" +
    "not a field\r\nSet-Cookie: a=b\r\n" +
    "Transfer-Encoding: chunked\r\n\r\n";
  await using site = new Listener(async (peer) => {
    await peer.until("\r\n\r\n");
    await peer.send(head + "until the end");
  });
  await using proxy = await proxyFor(site);
  const answer = await ask(proxy, get(urlOf(site)));
  assert.equal(
    answer,
    "HTTP/1.1 418 I am\r\nSet-Cookie: a=b\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" +
      "until the end",
  );
  assert.equal(outcomeOf(proxy), "open");
});

Deno.test("egress: a second request on a connection is discarded, with or without a body before it", async () => {
  await using secret = new Site("secret");
  const received: string[] = [];
  await using site = new Listener(async (peer) => {
    // A server that would go on: it answers, keeps the connection, and notes all that still comes.
    const head = await peer.until("\r\n\r\n");
    await peer.send(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nokEXTRA",
    );
    received.push(head.split("\r\n")[0]! + "|" + await peer.rest());
  });
  await using proxy = await proxyFor(site);
  const second = get(`${urlOf(secret)}/`);
  const post = `POST ${urlOf(site)}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`;
  for (const first of [get(`${urlOf(site)}/`), post]) {
    const answer = await ask(proxy, first + second + tunnel(`127.0.0.1:${secret.port}`));
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/);
  }
  await until(WAIT_MS_MAX, () => Promise.resolve(received.length === 2), "the site has heard all");
  assert.deepEqual(received, ["GET / HTTP/1.1|", "POST / HTTP/1.1|body"]);
  const onRefusal = await ask(proxy, second + get(`${urlOf(site)}/`));
  assert.equal(onRefusal.split("HTTP/1.1 ").length, 2, "one answer");
  assert.deepEqual([secret.connections, site.connections], [0, 2]);
});

Deno.test("egress: anything but exactly one request is answered 400, and nothing is dialled", async () => {
  await using site = new Site();
  await using proxy = await proxyFor(site);
  const at = `127.0.0.1:${site.port}`;
  const wrong = [
    get("/"),
    get(`https://${at}/`),
    get(`ftp://${at}/`),
    get(`ws://${at}/`),
    get(`http://user:password@${at}/`),
    get(`http://site.example@${at}/`),
    get("http:///"),
    get("http://"),
    get(`http://${at}\\@site.example/`),
    get(`http://127.0.0.1:99999/`),
    get("http://[::1/"),
    get(`http://１２７.0.0.1:${site.port}/`),
    get(`http://${at}/ extra`),
    get(`http://${at}/`, "Transfer-Encoding: chunked") + "0\r\n\r\n",
    get(`http://${at}/`, "Content-Length: 1", "Content-Length: 2") + "ab",
    get(`http://${at}/`, "Content-Length: 1, 1") + "a",
    get(`http://${at}/`, "Content-Length: -1"),
    get(`http://${at}/`, "Content-Length: 0x10"),
    get(`http://${at}/`, "Content-Length : 1") + "a",
    get(`http://${at}/`, " folded: 1"),
    get(`http://${at}/`, "X: a\nTransfer-Encoding: chunked"),
    get(`http://${at}/`, "X: a\0b"),
    get(`http://${at}/`, "no field"),
    `GET http://${at}/ HTTP/2.0\r\n\r\n`,
    `GET http://${at}/\r\n\r\n`,
    "CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
    `CONNECT http://${at}/ HTTP/1.1\r\n\r\n`,
    `CONNECT user@${at} HTTP/1.1\r\n\r\n`,
    "CONNECT :443 HTTP/1.1\r\n\r\n",
    "\r\n\r\n",
    "\x16\x03\x01 hello\r\n\r\n",
  ];
  for (const said of wrong) {
    assert.match(await ask(proxy, said), /^HTTP\/1\.1 400 Bad Request\r\n/, JSON.stringify(said));
  }
  assert.deepEqual([site.connections, proxy.log()], [0, []]);
});

Deno.test("egress: a head that is too large is answered 431, one that does not end in time is cut off", async () => {
  await using site = new Site();
  await using proxy = await proxyFor(site);
  const large = get(urlOf(site), `X-Large: ${"x".repeat(65_000)}`, `Y: ${"y".repeat(1000)}`);
  assert.match(await ask(proxy, large), /^HTTP\/1\.1 431 /);
  assert.match(await ask(proxy, "G".repeat(70_000)), /^HTTP\/1\.1 431 /);
  await using hasty = await proxyFor(site, { headMsMax: 100 });
  assert.equal(await ask(hasty, `GET ${urlOf(site)}/ HTTP/1.1\r\nHost: x\r\n`), "");
  assert.equal(await ask(hasty, ""), "");
  assert.equal(site.connections, 0);
  const fits = get(urlOf(site), `X-Large: ${"x".repeat(60_000)}`);
  assert.match(await ask(proxy, fits), /hello$/);
});

Deno.test("egress: a head may arrive in pieces, and its blank line too", async () => {
  await using site = new Site();
  await using proxy = await proxyFor(site);
  using peer = await connect(proxy);
  for (const piece of get(urlOf(site)).split(/(?<=[\r\n])/)) {
    await peer.send(piece);
    await pause(5);
  }
  assert.match(await peer.rest(), /hello$/);
});

Deno.test("egress: an invalid response is 502, and so is one in another protocol", async () => {
  const answers = [
    "",
    "hello\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nframes",
    "HTTP/2 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nno end",
    `HTTP/1.1 200 OK\r\nX: ${"x".repeat(300_000)}\r\n\r\n`,
    "HTTP/1.1 100 Continue\r\n\r\n".repeat(20) + "HTTP/1.1 200 OK\r\n\r\n",
  ];
  let answer = "";
  await using site = new Listener(async (peer) => {
    await peer.until("\r\n\r\n");
    await peer.send(answer);
  });
  await using proxy = await proxyFor(site);
  for (answer of answers) {
    const said = await ask(proxy, get(urlOf(site)));
    assert.match(said, /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)*HTTP\/1\.1 502 Bad Gateway\r\n/);
    assert.match(said, /X-Footfall-Egress: unreachable/);
    assert.equal(outcomeOf(proxy), "unreachable", answer.slice(0, 50));
  }
});

Deno.test("egress: interim responses come first, and careless line ends are corrected", async () => {
  await using site = new Listener(async (peer) => {
    await peer.until("\r\n\r\n");
    await peer.send("HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 204\nX: y\n\nnobody's body");
    await peer.rest();
  });
  await using proxy = await proxyFor(site);
  const interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  assert.equal(
    await ask(proxy, get(urlOf(site))),
    `${interim}HTTP/1.1 204 \r\nX: y\r\nConnection: close\r\n\r\n`,
  );
});

Deno.test("egress: a tunnel forwards bytes both ways, also early ones, and each direction ends by itself", async () => {
  await using site = new Listener(async (peer) => {
    const question = await peer.rest();
    await peer.send(`you said ${question}`);
  });
  await using proxy = await proxyFor(site);
  using peer = await connect(proxy);
  await peer.send(tunnel(`127.0.0.1:${site.port}`) + "early ");
  await peer.until(OPENED);
  await peer.send("late");
  await peer.socket.closeWrite();
  assert.equal(await peer.rest(), "you said early late");
  const { bytes, outcome } = proxy.log()[0]!;
  assert.deepEqual({ bytes, outcome }, { bytes: 2 * "early late".length + 9, outcome: "open" });
});

Deno.test("egress: a WebSocket's upgrade passes through a tunnel to the site, and not to another host", async () => {
  await using secret = new Site("secret");
  await using site = new Listener(async (peer) => {
    assert.match(await peer.until("\r\n\r\n"), /^Upgrade: websocket\r$/m);
    await peer.send("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    await peer.send((await peer.until("ping")).replace("ping", "pong"));
  });
  await using proxy = await proxyFor(site);
  const upgrade = "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\nping";
  const opened = await ask(proxy, tunnel(`127.0.0.1:${site.port}`) + upgrade);
  assert.equal(opened, `${OPENED}HTTP/1.1 101 Switching Protocols\r\n\r\npong`);
  const refused = await ask(proxy, tunnel(`127.0.0.1:${secret.port}`) + upgrade);
  assert.match(refused, /^HTTP\/1\.1 403 Forbidden\r\n[^]*<!doctype html>$/);
  assert.equal(secret.connections, 0);
});

Deno.test("egress: if the browser closes its connection, the site's ends too, and the other way round", async () => {
  const left = Promise.withResolvers<string>();
  await using site = new Listener(async (peer) => {
    const head = await peer.until("\r\n\r\n");
    if (head.startsWith("GET /leave")) return;
    left.resolve(await peer.rest());
  });
  await using proxy = await proxyFor(site);
  {
    using peer = await connect(proxy);
    await peer.send(get(`${urlOf(site)}/stay`));
    await until(WAIT_MS_MAX, () => Promise.resolve(site.connections === 1), "the site is asked");
  }
  assert.equal(await left.promise, "");
  const inTunnel = await ask(
    proxy,
    tunnel(`127.0.0.1:${site.port}`) + "GET /leave HTTP/1.1\r\n\r\n",
  );
  assert.equal(inTunnel, OPENED);
});

Deno.test("egress: a response that comes before the body is read arrives whole", async () => {
  await using site = new Listener(async (peer) => {
    await peer.until("\r\n\r\n");
    await peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
  });
  await using proxy = await proxyFor(site);
  for (let i = 0; i < 20; i++) {
    using peer = await connect(proxy);
    await peer.send(`POST ${urlOf(site)}/ HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n`);
    await peer.send(new Uint8Array(1_000_000));
    await peer.until("\r\n\r\nbig");
    await peer.send(new Uint8Array(1_000_000));
  }
});
