import { fileURLToPath } from "node:url";
import puppeteer, { type Page } from "puppeteer-core";
import { CHROME } from "../support/app.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const CHROMIUM = "/usr/bin/chromium";
const PAGE_MS_MAX = 120_000;

/** A script of the tests with the published client that it imports, as one for browsers. */
async function bundled(entry: URL): Promise<string> {
  const output = await Deno.makeTempFile({ prefix: "footfall-client-", suffix: ".js" });
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", "--platform", "browser", "--format", "iife", "--output", output]
        .concat(fileURLToPath(entry)),
      cwd: REPOSITORY,
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return await Deno.readTextFile(output);
  } finally {
    await Deno.remove(output);
  }
}

/** A page with a client, and what went wrong in it. */
export interface ClientPage {
  readonly page: Page;
  /** The page's own origin. */
  readonly origin: string;
  /** Exceptions that nobody caught. */
  readonly failures: string[];
}

/** Opens `/shop` of a site of its own, with the script in it, in a browser of its own. */
export async function withClientPage(
  entry: URL,
  work: (client: ClientPage) => Promise<void>,
): Promise<void> {
  const script = await bundled(entry);
  const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using site = Deno.serve(quiet, (request) => {
    const { pathname } = new URL(request.url);
    const type = (name: string) => ({ headers: { "Content-Type": `text/${name}; charset=utf-8` } });
    if (pathname === "/client.js") return new Response(script, type("javascript"));
    return new Response(
      `<!doctype html><html lang="en"><title>Page ${pathname}</title>` +
        '<link rel="icon" href="data:,"><body><button>Buy</button><script src="/client.js"></script>',
      type("html"),
    );
  });
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    headless: true,
    pipe: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(PAGE_MS_MAX);
    await page.setUserAgent({ userAgent: CHROME });
    const failures: string[] = [];
    page.on("pageerror", (error) => failures.push(String(error)));
    const origin = `http://localhost:${site.addr.port}`;
    await page.goto(`${origin}/shop?utm_source=letter`);
    await work({ page, origin, failures });
  } finally {
    await browser.close();
  }
}
