import assert from "node:assert/strict";
import { join } from "node:path";
import { type Browser, type BrowserContext, type HTTPRequest, type Page } from "puppeteer-core";
import { forEachInFlight } from "../../src/cli/event_sender.ts";
import { demoEvents } from "../../src/demo/visitors/demo_events.ts";
import { SHOP_NAME, SHOP_TIMEZONE } from "../../src/demo/shop.ts";
import { type Json, PUBLIC_PEER, TestApp } from "../support/app.ts";
import { copyFilled } from "../support/filled_folder.ts";
import { until } from "../support/server_process.ts";
import { launchChromium } from "../support/chromium.ts";

const WAIT_MS_MAX = 30_000;
const NETWORK_IDLE_MS_MAX = 10_000;
const HOUR_MS = 3_600_000;
/** Of the dashboard before it is drawn and before anybody is signed in or asked to, and of what is loading. */
const UNSETTLED = '#app > .opening, [aria-busy="true"], .skeleton';
/** Run inside the page: by then it is drawn, and has done what it does after that; a hidden one may not be drawn. */
const DRAWN = `new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
  setTimeout(done, 1_000);
})`;
/** Where pictures of the views are left for people to look at: in CI nobody does. */
const PICTURES = Deno.env.get("CI") === "true"
  ? null
  : new URL("../../dist/screenshots/", import.meta.url);

/** The demo shop: five weeks up to now, goals and a funnel among them. */
export const DEMO = "prj_demo";
/** A project without any event. */
export const EMPTY = "prj_empty";
export const ALL_SCOPES = "read write jobs admin";
/** The first of the people; tests make the others. */
export const OWNER = { email: "owner@example.com", name: "Olive Owner" };
export const PASSWORD = "green teapots on the moon";

export const GOAL = {
  slug: "purchase",
  title: "Purchase",
  match: { name: "purchase" },
  value: { property: "value", currency: "EUR" },
};
export const FUNNEL = {
  slug: "checkout",
  title: "Checkout",
  steps: [{ name: "view_product" }, { name: "add_to_cart" }, { name: "purchase" }],
  window: "1d",
};

export interface PageOptions {
  /** Null: nobody is signed in. Default: a token with every scope. */
  readonly token?: string | null;
  readonly project?: string;
  /** What stands behind the `#`, such as a link's secret; nobody is signed in then. */
  readonly fragment?: string;
  readonly widthPx?: number;
  readonly heightPx?: number;
  readonly scheme?: "light" | "dark";
}

/** What answers a request of the page instead of the server; undefined: the server does. */
export type Interception = (request: HTTPRequest) =>
  | { readonly status: number; readonly contentType?: string; readonly body?: string | Uint8Array }
  | undefined;

export interface WorldOptions {
  /** What the server is configured with; a function of where it is found, if that matters. */
  readonly env?: Record<string, string> | ((url: string) => Promise<Record<string, string>>);
  /** False: without the demo shop. */
  readonly isFilled?: boolean;
}

/** The server's clock, which tests set forward and back. The browser has its own, and so has the database. */
export class ServerClock {
  offsetMs = 0;
  readonly now = (): number => Date.now() + this.offsetMs;
}

/** Sends the demo shop: five weeks up to a moment, a goal, a funnel, an owner and an empty project. */
async function fill(server: TestApp, untilMs: number): Promise<void> {
  const origin = "https://shop.example";
  const settings = { name: SHOP_NAME, timezone: SHOP_TIMEZONE, siteUrl: origin };
  const project = await server.project({ id: DEMO, ...settings });
  await server.project({ id: EMPTY, name: "Nothing yet" });
  const demo = demoEvents({ seed: 1, weeks: 5, visitors: 250, untilMs, origin });
  await forEachInFlight(demo.batches(), 8, async ({ address, userAgent, events }) => {
    const options = { peer: address, headers: { "User-Agent": userAgent } };
    const { status } = await server.post(project, [...events], options);
    assert.equal(status, 200);
  });
  const { slug: goal, ...goalBody } = GOAL;
  const { slug: funnel, ...funnelBody } = FUNNEL;
  await server.admin("PUT", `/v1/goals/${goal}?project=${DEMO}`, goalBody);
  await server.admin("PUT", `/v1/funnels/${funnel}?project=${DEMO}`, funnelBody);
  const owner = { ...OWNER, role: "owner", password: PASSWORD };
  const { status } = await server.admin("POST", "/v1/people", owner);
  assert.equal(status, 201);
  // Sent until every event is counted.
  await server.admin("GET", `/v1/kpis?project=${DEMO}`);
}

/** Makes a folder with the demo shop up to the running hour: it is sent once an hour, and then copied. */
async function copyShop(target: string): Promise<void> {
  const hour = Math.floor(Date.now() / HOUR_MS);
  const made = { kind: "shop", key: String(hour) };
  await copyFilled(target, { ...made, fill: (server) => fill(server, hour * HOUR_MS) });
}

/** A server with the demo shop and a browser: one of each for all tests of a file. */
class World {
  readonly clock = new ServerClock();
  #server: TestApp | undefined;
  #http: Deno.HttpServer<Deno.NetAddr> | undefined;
  #browser: Browser | undefined;
  #folder: string | undefined;

  constructor(readonly options: WorldOptions) {}

  get server(): TestApp {
    assert.ok(this.#server, "the server is not started");
    return this.#server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#http!.addr.port}`;
  }

  async start(): Promise<void> {
    const { env = {}, isFilled = true } = this.options;
    this.#http = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.server.app.fetch(request, PUBLIC_PEER),
    );
    const shop = isFilled ? { DATA_DIR: join(await this.#makeFolder(), "data") } : null;
    if (shop !== null) await copyShop(shop.DATA_DIR);
    const own = typeof env === "function" ? await env(this.url) : env;
    this.#server = new TestApp({ ...own, ...shop }, { now: this.clock.now });
    await this.server.start();
    this.#browser = await launchChromium();
  }

  async #makeFolder(): Promise<string> {
    return this.#folder = await Deno.makeTempDir({ prefix: "footfall-shop-" });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    // Streams of live updates end with the server behind it.
    await Promise.all([this.#http?.shutdown(), this.#server?.stop()]);
    if (this.#folder !== undefined) await Deno.remove(this.#folder, { recursive: true });
  }

  async visit(work: (visit: Visit) => Promise<void>): Promise<void> {
    const context = await this.#browser!.createBrowserContext();
    const visit = new Visit(this, context);
    try {
      await work(visit);
      visit.assertClean();
    } finally {
      await context.close();
    }
  }
}

/** What one test does with the dashboard. Ends with a check that the page did nothing wrong. */
export class Visit {
  readonly faults: string[] = [];
  /** Parts of faults that the test causes on purpose. */
  readonly expectedFaults: string[] = [];
  intercept: Interception = () => undefined;

  constructor(readonly world: World, readonly context: BrowserContext) {}

  get server(): TestApp {
    return this.world.server;
  }

  async token(scope = ALL_SCOPES, projects: string[] = ["*"]): Promise<string> {
    return await this.server.token(projects, scope);
  }

  /** Opens a view, such as `?view=funnels`, signed in by the link's fragment. */
  async open(query = "", options: PageOptions = {}): Promise<Page> {
    const search = new URLSearchParams(query);
    if (!search.has("project")) search.set("project", options.project ?? DEMO);
    const fragment = options.fragment ?? await this.#tokenFragment(options.token);
    const hash = fragment === "" ? "" : `#${fragment}`;
    return await this.openAt(`${this.world.url}/?${search}${hash}`, options);
  }

  /** Opens any address, by whoever is signed in. */
  async openAt(address: string, options: PageOptions = {}): Promise<Page> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    await page.setViewport({ width: options.widthPx ?? 1440, height: options.heightPx ?? 900 });
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: options.scheme ?? "light" },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    await this.#watch(page);
    await page.goto(address, { waitUntil: "load" });
    return page;
  }

  async #tokenFragment(wanted: string | null | undefined): Promise<string> {
    if (wanted === null) return "";
    return `token=${wanted ?? await this.token()}`;
  }

  async #watch(page: Page): Promise<void> {
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      const { url } = message.location();
      this.faults.push(`console: ${message.text()} ${URL.parse(url ?? "")?.pathname ?? ""}`);
    });
    page.on("pageerror", (error) => {
      this.faults.push(`page: ${error instanceof Error ? error.message : String(error)}`);
    });
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      const url = new URL(request.url());
      const isOwn = url.origin === this.world.url || ["blob:", "data:"].includes(url.protocol);
      if (!isOwn) this.faults.push(`another origin: ${url}`);
      const answer = this.intercept(request);
      const done = answer === undefined ? request.continue() : request.respond({
        status: answer.status,
        contentType: answer.contentType ?? "application/json",
        body: answer.body ?? "",
      });
      // The page may have left meanwhile.
      done.catch(() => {});
    });
  }

  /** The reply to `GET /v1/<path>` as an operator. */
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
  async read(path: string, query: Json = {}): Promise<any> {
    const texts = Object.entries({ project: DEMO, ...query })
      .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
    const address = `/v1/${path}?${new URLSearchParams(texts as [string, string][])}`;
    const { status, body } = await this.server.admin("GET", address);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  /** Waits until `check`, run inside the page, is true: what it looks at may not be there yet. */
  async until(page: Page, check: string, what = check): Promise<void> {
    const holds = () => page.evaluate(check).then(Boolean, () => false);
    await until(WAIT_MS_MAX, holds, what);
  }

  /** The text that a person sees, white space folded. */
  async text(page: Page, selector = "body"): Promise<string> {
    const texts = await page.$$eval(
      selector,
      (elements) =>
        elements.map((element) => (element as unknown as { innerText: string }).innerText),
    );
    return texts.join("\n").replace(/\s+/g, " ");
  }

  /** Waits until a person sees `wanted`. */
  async sees(page: Page, wanted: string, selector = "body"): Promise<void> {
    let seen = "";
    await until(WAIT_MS_MAX, async () => {
      seen = await this.text(page, selector).catch(() => "");
      return seen.includes(wanted);
    }, `"${wanted}" is seen`).catch((error) => {
      throw new Error(`${error.message}; there is: ${seen.slice(0, 2_000)}`);
    });
  }

  /** Waits until somebody is signed in or asked to, no panel is loading and the network rests. */
  async settled(page: Page): Promise<void> {
    // Reads begin only once what asks for them is drawn.
    await page.evaluate(DRAWN).catch(() => {});
    // A request that a page gave up on may count as under way for ever: then what is shown says enough.
    const idle = { idleTime: 300, concurrency: 1, timeout: NETWORK_IDLE_MS_MAX };
    await page.waitForNetworkIdle(idle).catch(() => {});
    const isSettled = `document.querySelector(${JSON.stringify(UNSETTLED)}) === null`;
    await this.until(page, `${DRAWN}.then(() => ${isSettled})`, isSettled);
  }

  /** Leaves a picture of the whole page in dist/screenshots, except in CI. */
  async picture(page: Page, name: string): Promise<void> {
    if (PICTURES === null) return;
    await Deno.mkdir(PICTURES, { recursive: true });
    const bytes = await page.screenshot({ fullPage: true });
    await Deno.writeFile(new URL(`${name}.png`, PICTURES), bytes);
  }

  assertClean(): void {
    const faults = this.faults
      .filter((fault) => !this.expectedFaults.some((expected) => fault.includes(expected)));
    assert.deepEqual(faults, []);
  }
}

/** Declares the tests of a file, on one world. */
export function dashboardWorld(options: WorldOptions = {}): (
  name: string,
  work: (visit: Visit) => Promise<void>,
) => void {
  const world = new World(options);
  Deno.test.beforeAll(() => world.start());
  Deno.test.afterAll(() => world.stop());
  return (name, work) =>
    Deno.test({
      name,
      fn: () => world.visit(work),
    });
}
