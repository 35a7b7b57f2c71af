/// <reference lib="dom" />
import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import type { Browser, Page } from "puppeteer-core";
import type { EgressEntry } from "../../src/screenshots/egress/egress_proxy.ts";
import { launchChromium } from "../support/chromium.ts";
import { until } from "../support/server_process.ts";
import { Dialler, Site, startProxy, WAIT_MS_MAX } from "./egress_world.ts";

const ARGUMENTS = ["--disable-component-update", "--disable-quic"];
/** What keeps calls from sending datagrams beside the proxy. */
const GUARD = "--webrtc-ip-handling-policy=disable_non_proxied_udp";
/** By which a page's scripts tell that each of their tries has come to something. */
const DONE = "done";

/** Answers with whatever page a test has written, and redirects where a path says so. */
class Pages implements AsyncDisposable {
  html = "";
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/redirect") {
        return new Response(null, { status: 302, headers: { Location: search.slice(1) } });
      }
      if (pathname === "/socket") return echo(request);
      const headers = { "Content-Type": "text/html; charset=utf-8" };
      return new Response(pathname === "/" ? this.html : "<p>part", { headers });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function echo(request: Request): Response {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onmessage = ({ data }) => socket.send(data);
  return response;
}

/** Everything that a page can do to make its browser connect to another place. */
function traps(site: string, other: string): string {
  const { host } = new URL(other);
  const ports = host.slice(host.lastIndexOf(":"));
  return `<!doctype html><title>traps</title><link rel="icon" href="data:,">
    <link rel="dns-prefetch" href="//localhost${ports}"><link rel="preconnect" href="${other}">
    <link rel="prefetch" href="${other}/prefetch"><link rel="stylesheet" href="//${host}/style">
    <link rel="preload" as="script" href="${other}/preload"><link rel="manifest" href="${other}/m">
    <link rel="modulepreload" href="${other}/module">
    <script type="speculationrules">
      {"prefetch": [{"source": "list", "urls": ["${other}/speculated"], "eagerness": "immediate"}]}
    </script>
    <style>@import url("//${host}/import"); @font-face { font-family: f; src: url(${other}/font) }
      body { font-family: f; background: url(//${host}/background) }</style>
    <script src="//${host}/script"></script>
    <body><img src="${other}/image"><img src="//${host}/relative"><img src="/redirect?${other}/to">
    <img src="http://localhost${ports}/name"><img src="http://[::1]${ports}/six">
    <img src="http://2130706433${ports}/number"><img src="http://0x7f.1${ports}/hex">
    <iframe src="${other}/frame"></iframe><iframe src="/redirect?//${host}/frame"></iframe>
    <iframe srcdoc="<meta http-equiv=refresh content='0;url=${other}/refresh'>"></iframe>
    <object data="${other}/object"></object><embed src="${other}/embed">
    <video src="${other}/video" autoplay></video><audio src="${other}/audio" autoplay></audio>
    <form id="form" method="post" action="${other}/form" target="sink"></form>
    <iframe name="sink"></iframe><a id="ping" href="#here" ping="${other}/ping">p</a>
    <script>
      const settle = (start) => new Promise(start).catch(() => {});
      const socket = (url) => settle((done) => {
        const socket = new WebSocket(url);
        socket.onopen = socket.onerror = () => done();
      });
      const inWorker = (code) => settle((done) => {
        const worker = new Worker(URL.createObjectURL(new Blob([code + ";postMessage(0)"])));
        worker.onmessage = worker.onerror = () => done();
      });
      const call = (iceServers) => settle(async (done) => {
        const peer = new RTCPeerConnection({ iceServers });
        peer.createDataChannel("x");
        peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && done();
        setTimeout(done, 2000);
        await peer.setLocalDescription(await peer.createOffer());
      });
      form.submit();
      ping.click();
      navigator.sendBeacon("${other}/beacon", "x");
      new EventSource("${other}/stream");
      const account = { username: "u", credential: "c" };
      const tries = [
        fetch("${other}/fetch"), fetch("//${host}/fetch", { mode: "no-cors" }),
        fetch("/redirect?${other}/fetch", { mode: "no-cors" }),
        fetch("${other}/put", { method: "PUT", body: "x" }),
        fetch("${other}/alive", { mode: "no-cors", keepalive: true }),
        socket("ws://${host}/"), socket("wss://${host}/"), socket("ws://localhost${ports}/"),
        inWorker("importScripts('${other}/worker')"),
        inWorker("fetch('${other}/worker-fetch', { mode: 'no-cors' })"),
        inWorker("new WebSocket('ws://${host}/worker')"),
        call([{ urls: "stun:${host}" }]),
        call([{ urls: ["turn:${host}?transport=udp", "turn:${host}?transport=tcp"], ...account }]),
        typeof WebTransport === "undefined" ? 0 : settle((d) => new WebTransport("https://${host}/").ready.then(d, d)),
        navigator.serviceWorker?.register("/redirect?${other}/service"),
      ];
      Promise.allSettled(tries).then(() => document.title = "${DONE}");
    </script><p>At ${site}`;
}

async function listenDatagrams(port: number): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(port, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

async function isDone(page: Page): Promise<void> {
  await page.waitForFunction((title) => document.title === title, { timeout: WAIT_MS_MAX }, DONE);
}

/**
 * The same page does connect where nothing guards. A browser sends datagrams to the own machine
 * where it has a network beside loopback (calls) or packets of 1,250 bytes pass (QUIC): where
 * neither is so, this machine cannot show that they are kept back, and that is said.
 */
async function connectsUnguarded(
  url: string,
  hasConnections: () => boolean,
  hasDatagrams: () => boolean,
): Promise<void> {
  const unguarded = await launchChromium({ isWhole: true, args: ARGUMENTS });
  try {
    const page = await unguarded.newPage();
    page.goto(url).catch(() => {});
    await until(3 * WAIT_MS_MAX, () => Promise.resolve(hasConnections()), "traps that connect");
    await until(WAIT_MS_MAX / 2, () => Promise.resolve(hasDatagrams()), "datagrams").catch(() =>
      console.warn("Browsers send no datagrams on this machine: nothing is shown about them.")
    );
  } finally {
    await unguarded.close();
  }
}

const bypass = ["<-loopback>"];
let browser: Browser;
Deno.test.beforeAll(async () => {
  browser = await launchChromium({ isWhole: true, args: [...ARGUMENTS, GUARD] });
});
Deno.test.afterAll(() => browser.close());

Deno.test(
  "egress in a browser: nothing that a page can do connects beside the site",
  async () => {
    await using pages = new Pages();
    await using secret = new Site("secret", "::");
    await using proxy = await startProxy({ siteUrl: pages.url });
    const other = `http://127.0.0.1:${secret.port}`;
    pages.html = traps(pages.url, other);
    const datagrams = await listenDatagrams(secret.port);
    let packets = 0;
    datagrams.on("message", () => packets++);
    const guarded = await browser.createBrowserContext({
      proxyServer: proxy.url,
      proxyBypassList: bypass,
    });
    try {
      const page = await guarded.newPage();
      assert.equal((await page.goto(pages.url))?.status(), 200);
      await isDone(page);
      for (const path of ["/navigated", "/again"]) {
        const answer = await page.goto(other + path);
        assert.equal(answer?.status(), 403);
        assert.equal(answer.headers()["x-footfall-egress"], "blocked_address");
      }
      const overTls = page.goto(`https://127.0.0.1:${secret.port}/`);
      await assert.rejects(overTls, /net::ERR_TUNNEL_CONNECTION_FAILED/);
      assert.deepEqual({ connections: secret.connections, packets }, {
        connections: 0,
        packets: 0,
      });
      const refused = proxy.log().filter(({ port }) => port === secret.port);
      assert.ok(refused.length > 25, `${refused.length} tries were refused`);
      assert.ok(refused.every(({ outcome }) => outcome === "blocked_address"));
      assert.deepEqual(
        new Set(refused.map(({ host }) => host)),
        new Set(["127.0.0.1", "localhost", "[::1]"]),
      );
      await connectsUnguarded(pages.url, () => secret.connections > 10, () => packets > 0);
    } finally {
      await guarded.close();
      datagrams.close();
    }
  },
);

Deno.test(
  "egress in a browser: the site's page, its parts, forms and sockets come through",
  async () => {
    await using pages = new Pages();
    const dialler = new Dialler((_, port) => port === 80 ? Number(new URL(pages.url).port) : null);
    const entries: EgressEntry[] = [];
    for (const siteUrl of [pages.url, "http://shop.example"]) {
      await using proxy = await startProxy({
        siteUrl,
        // The browser's own errands.
        blockedHosts: (host) => host.endsWith(".google.com"),
        resolve: () => Promise.resolve(["93.184.216.34"]),
        ...(siteUrl === pages.url ? {} : { dial: dialler.dial }),
      });
      pages.html = `<!doctype html><link rel="icon" href="data:,"><body><script>
      const socket = new WebSocket("/socket");
      socket.onopen = () => socket.send("${DONE}");
      socket.onmessage = async ({ data }) => {
        for (let i = 0; i < 20; i++) await (await fetch("/part?" + i)).text();
        await (await fetch("/part", { method: "POST", body: "x".repeat(300_000) })).text();
        document.title = data;
      };
    </script>`;
      const context = await browser.createBrowserContext({
        proxyServer: proxy.url,
        proxyBypassList: bypass,
      });
      try {
        const page = await context.newPage();
        assert.equal((await page.goto(siteUrl))?.status(), 200);
        await isDone(page);
      } finally {
        await context.close();
      }
      entries.push(...proxy.log().filter(({ outcome }) => outcome !== "blocked_host"));
    }
    assert.deepEqual(entries.filter(({ outcome }) => outcome !== "open"), []);
    assert.ok(entries.length >= 2 * 23, "each request was checked by itself");
  },
);
