/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Browser, BrowserContext, Page } from "puppeteer-core";
import { type Json, TestApp, type TestProject } from "../support/app.ts";
import { until } from "../support/server_process.ts";
import { type Event, Gate } from "./gate.ts";
import { launchChromium } from "../support/chromium.ts";

const WAIT_MS_MAX = 20_000;
/** Origins of their own; plain HTTP on a name is no secure context, on `localhost` it is. */
const HOSTS = "MAP *.test 127.0.0.1";

/** The SDK's client, as pages hold it. */
export interface Client {
  track(name: string, properties?: Json): void;
  page(properties?: Json): void;
  identify(userId: string): void;
  reset(): void;
  flush(): Promise<void>;
  optOut(): void;
  optIn(): void;
}

declare global {
  var footfall: Client;
}

export interface PageOptions {
  /** Default: `/`. */
  readonly path?: string;
  /** What stands in the body. */
  readonly body?: string;
  readonly head?: string;
  readonly headers?: Record<string, string>;
  /** Default: that of HTML; "": the page is shown in quirks mode. */
  readonly doctype?: string;
}

/** Options of `createAnalytics`, beside key and endpoint. */
export type ClientOptions = Json;

/** What one test has: a browser profile, a project, and pages of its own. */
export class Visit {
  readonly messages: string[] = [];
  /** The paths that were asked for, in their order. */
  readonly asked: string[] = [];
  readonly #pages = new Map<string, { html: string; headers: Record<string, string> }>();

  constructor(
    readonly world: World,
    readonly context: BrowserContext,
    readonly project: TestProject,
  ) {}

  get gate(): Gate {
    return this.world.gate;
  }

  answer(path: string): Response | null {
    this.asked.push(path);
    const page = this.#pages.get(path);
    if (page === undefined) return null;
    return new Response(page.html, {
      headers: { "Content-Type": "text/html; charset=utf-8", ...page.headers },
    });
  }

  /** Publishes a page. */
  publish(page: PageOptions = {}) {
    const { path = "/", body = "<p>Hello</p>", head = "", headers = {} } = page;
    const html = `${page.doctype ?? "<!doctype html>"}<html lang="en"><title>Page ${path}</title>` +
      `<link rel="icon" href="data:,">${head}<body>${body}`;
    this.#pages.set(path, { html, headers });
  }

  /** The tag that a site owner pastes. */
  tag(attributes = "", source = `${this.world.siteUrl}/analytics/sdk.js`): string {
    return `<script defer src="${source}" data-api-key="${this.project.publicKey}" ${attributes}></script>`;
  }

  /** A module script that leaves its client at `window.footfall`. */
  module(options: ClientOptions = {}, key = this.project.publicKey): string {
    const all = { apiKey: key, endpoint: "/analytics", flushIntervalMs: 50, ...options };
    return `<script type="module">import { createAnalytics } from "/analytics/sdk.mjs";` +
      `window.footfall = createAnalytics(${JSON.stringify(all)});</script>`;
  }

  async newPage(): Promise<Page> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    page.on("console", (message) => this.messages.push(message.text()));
    page.on("pageerror", (error) => this.messages.push(String(error)));
    return page;
  }

  /** Opens a published page and waits for its client. */
  async open(path = "/", page?: Page, origin = this.world.siteUrl): Promise<Page> {
    const opened = page ?? await this.newPage();
    await opened.goto(origin + path);
    await opened.waitForFunction(() => globalThis.footfall !== undefined);
    return opened;
  }

  /** Publishes a page with a module's client, and opens it. */
  async client(options: ClientOptions = {}, page?: Page): Promise<Page> {
    this.publish({ head: this.module(options) });
    return await this.open("/", page);
  }

  /** Waits until the gate has let events of these names (each as often as named) in, and checks that. */
  async arrived(...names: string[]): Promise<Event[]> {
    const seen = () => this.gate.events(200).map(({ name }) => name);
    await this.until(() => seen().length >= names.length, `${names} arrive`).catch((error) => {
      throw new Error(`${error.message}; there are ${JSON.stringify(seen())}`);
    });
    assert.deepEqual(seen().toSorted(), names.toSorted());
    return this.gate.events(200);
  }

  async until(
    check: () => boolean | Promise<boolean>,
    what: string,
    waitMsMax = WAIT_MS_MAX,
  ): Promise<void> {
    await until(waitMsMax, async () => await check(), what);
  }

  stored(): Promise<Event[]> {
    return this.world.server.stored(this.project);
  }
}

/** A real server, a site in front of it, and a real browser: one for the tests of all files of an entry. */
export class World {
  readonly server = new TestApp({ BASE_PATH: "/analytics" });
  readonly gate = new Gate((request) => this.server.app.fetch(request, "127.0.0.1"));
  #browser: Browser | undefined;
  #site: Deno.HttpServer<Deno.NetAddr> | undefined;
  #collector: Deno.HttpServer<Deno.NetAddr> | undefined;
  #visit: Visit | undefined;

  /** The site's origin; below `/analytics` it forwards to the server. */
  get siteUrl(): string {
    return `http://localhost:${this.#site!.addr.port}`;
  }

  get sitePort(): number {
    return this.#site!.addr.port;
  }

  /** The server at an origin of its own. */
  get collectorUrl(): string {
    return `http://collector.test:${this.#collector!.addr.port}`;
  }

  async start(): Promise<void> {
    await this.server.start();
    const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#site = Deno.serve(quiet, (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/analytics/")) return this.gate.handle(request);
      return this.#visit?.answer(pathname) ?? new Response("No such page", { status: 404 });
    });
    this.#collector = Deno.serve(quiet, (request) => this.gate.handle(request));
    this.#browser = await launchChromium({
      isWhole: true,
      // Puppeteer would switch it off, as other browsers than Chromium have it.
      ignoreDefaultArgs: ["--disable-back-forward-cache"],
      args: ["--disable-component-update", "--disable-sync", `--host-resolver-rules=${HOSTS}`],
    });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#site?.shutdown();
    await this.#collector?.shutdown();
    await this.server.stop();
  }

  async visit(work: (visit: Visit) => Promise<void>): Promise<void> {
    const context = await this.#browser!.createBrowserContext();
    this.gate.reset();
    try {
      this.#visit = new Visit(this, context, await this.server.project());
      await work(this.#visit);
    } finally {
      this.#visit = undefined;
      await context.close();
    }
  }
}

let shared: World | null = null;

/** Declares the tests of a file, on the world of its entry (`run_all.ts`). */
export function sharedWorld(): (name: string, work: (visit: Visit) => Promise<void>) => void {
  const world = shared ??= keptWorld();
  return (name, work) =>
    Deno.test({
      name,
      fn: () => world.visit(work),
    });
}

/** A world that the tests of an entry keep from the first to the last. */
function keptWorld(): World {
  const world = new World();
  Deno.test.beforeAll(() => world.start());
  Deno.test.afterAll(() => world.stop());
  return world;
}
