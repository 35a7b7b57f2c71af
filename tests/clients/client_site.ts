/// <reference lib="dom" />
/** Pages that hold a real published client, in a browser of their own. */
import assert from "node:assert/strict";
import { type Browser, type Page } from "puppeteer-core";
import { CHROME } from "../support/app.ts";
import { until } from "../support/server_process.ts";
import { CONFIG } from "./real_client.ts";
import { launchChromium } from "../support/chromium.ts";

const PAGES = new URL("./published/pages/", import.meta.url);
const WAIT_MS_MAX = 60_000;

/** What the pages of `pages/` leave at `window`. */
export interface ClientWindow {
  readonly mistakes: readonly string[];
  load(key: string, url: string, batching: boolean): Promise<void>;
  track(from: number, count: number): void;
  others(): Promise<void> | void;
}

declare global {
  var load: ClientWindow["load"];
  var track: ClientWindow["track"];
  var others: ClientWindow["others"];
  var mistakes: ClientWindow["mistakes"];
}

/** An event as a client of the API reads it. */
// deno-lint-ignore no-explicit-any
export type Stored = any;

/** What these libraries keep at once, about. */
const AT_ONCE = 50;
export const ARRIVED_MS_MAX = 120_000;

/** Lets the library of a page send `count` events, some at a time. `arrived`: how many there are. */
export async function trackAll(page: Page, count: number, arrived: () => number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await page.evaluate((from, some) => globalThis.track(from, some), from, AT_ONCE);
    const has = () => Promise.resolve(arrived() >= from + AT_ONCE);
    await until(ARRIVED_MS_MAX, has, `${from + AT_ONCE} events arrive`);
  }
}

/** Each of the clicks is there once, as the browser of `ClientSite` and its address say. */
export function assertClicked(clicks: readonly Stored[], count: number): void {
  const numbers = clicks.map(({ properties }) => properties.number);
  assert.deepEqual(numbers.toSorted((a, b) => a - b), [...Array(count).keys()]);
  for (const event of clicks) {
    assert.deepEqual(
      [event.browser, event.os, event.bot, event.clock, event.properties.server.ip],
      ["Chrome", "Linux", false, "client", "127.0.0.1"],
    );
  }
}

/** The program of a page with all that it imports, for a script tag. */
async function bundled(name: string): Promise<string> {
  const output = await Deno.makeTempFile({ suffix: ".js" });
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", "--config", CONFIG, "--platform", "browser", "--format", "iife"]
        .concat("--output", output, new URL(name, PAGES).pathname),
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return await Deno.readTextFile(output);
  } finally {
    await Deno.remove(output);
  }
}

/** A site of one page at every path, which loads a program of `pages/`, and a browser. */
export class ClientSite implements AsyncDisposable {
  private constructor(
    readonly site: Deno.HttpServer<Deno.NetAddr>,
    readonly browser: Browser,
  ) {}

  static async open(name: string): Promise<ClientSite> {
    const script = await bundled(name);
    const html = `<!doctype html><html lang="en"><title>Shop</title>` +
      `<link rel="icon" href="data:,"><p>Hello</p><script src="/client.js"></script>`;
    const site = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const isScript = new URL(request.url).pathname === "/client.js";
      const type = isScript ? "text/javascript" : "text/html";
      return new Response(isScript ? script : html, {
        headers: { "Content-Type": `${type}; charset=utf-8` },
      });
    });
    const browser = await launchChromium();
    return new ClientSite(site, browser);
  }

  get url(): string {
    return `http://localhost:${this.site.addr.port}`;
  }

  /** A page of a new visitor. */
  async page(path: string): Promise<Page> {
    const context = await this.browser.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    await page.setUserAgent({ userAgent: CHROME });
    await page.goto(this.url + path, { referer: "http://search.example/" });
    await page.waitForFunction(() => globalThis.load !== undefined);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.site.shutdown();
  }
}
