/**
 * Signing in behind a proxy that speaks https, at the root of a host of its own and below a path of
 * somebody else's site: which cookies the browser keeps, and to whom it sends them.
 */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { makeDataDir } from "../support/embedded_template.ts";
import { PASSWORD } from "../support/person_browser.ts";
import { selfSigned } from "../support/self_signed.ts";
import { operatorToken, startServer } from "../support/server_process.ts";
import { fill, press } from "./acts.ts";
import { openPage, sees, withBrowser } from "./own_browser.ts";

const EMAIL = "ada@example.com";
const SITE = `<!doctype html><html lang="en"><title>Shop</title><h1>Our shop</h1>`;

interface Proxy {
  /** `https://localhost:12345` */
  readonly origin: string;
  /** The `Cookie` of each request to the site around it. */
  readonly siteCookies: (string | null)[];
}

/** What stands in front of the server: TLS, and a site of its own outside of the server's path. */
async function withProxy(
  upstream: string,
  basePath: string,
  work: (proxy: Proxy) => Promise<void>,
): Promise<void> {
  const siteCookies: (string | null)[] = [];
  const server = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
      // Of a stream that the page has left, nobody waits for the end.
      onError: () => new Response(null, { status: 502 }),
      ...await selfSigned(),
    },
    async (request) => {
      const { pathname, search, host } = new URL(request.url);
      if (basePath !== "" && !pathname.startsWith(`${basePath}/`) && pathname !== basePath) {
        siteCookies.push(request.headers.get("cookie"));
        return new Response(SITE, { headers: { "Content-Type": "text/html" } });
      }
      const headers = new Headers(request.headers);
      headers.delete("host");
      headers.set("X-Forwarded-Proto", "https");
      headers.set("X-Forwarded-Host", host);
      headers.set("X-Forwarded-For", "203.0.113.7");
      return await fetch(upstream + pathname + search, {
        method: request.method,
        headers,
        redirect: "manual",
        body: request.body,
        signal: request.signal,
      });
    },
  );
  try {
    await work({ origin: `https://localhost:${server.addr.port}`, siteCookies });
  } finally {
    await server.shutdown();
  }
}

async function signIn(page: Page): Promise<void> {
  await fill(page, "E-mail", EMAIL);
  await fill(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".shell");
}

/** Signs in, signs out, and looks at what the browser keeps. */
async function tryOut(proxy: Proxy, basePath: string, cookie: string): Promise<void> {
  await withBrowser(async (browser) => {
    const home = `${proxy.origin}${basePath}/`;
    const page = await openPage(browser, `${home}?view=goals`);
    await signIn(page);
    assert.equal(new URL(page.url()).searchParams.get("view"), "goals");
    const kept = (await browser.cookies()).map(
      ({ name, path, secure, httpOnly, sameSite, session }) => ({
        name,
        path,
        secure,
        httpOnly,
        sameSite,
        session,
      }),
    );
    assert.deepEqual(kept, [{
      name: cookie,
      path: basePath || "/",
      secure: true,
      httpOnly: true,
      sameSite: "Lax",
      // It is still there when the browser is opened tomorrow.
      session: false,
    }]);
    await page.reload();
    await page.waitForSelector(".shell");
    if (basePath !== "") {
      await page.goto(proxy.origin);
      await sees(page, "Our shop");
      assert.deepEqual(proxy.siteCookies.filter((sent) => sent?.includes("footfall")), []);
      await page.goto(home);
      await page.waitForSelector(".shell");
    }
    await press(page, "Sign out", ".side");
    await sees(page, "Sign in");
    assert.deepEqual(await browser.cookies(), []);
  });
}

for (const [basePath, cookie] of [["", "__Host-footfall"], ["/analytics", "__Secure-footfall"]]) {
  Deno.test({
    name: `people behind https at "${basePath}/": the browser keeps ${cookie}, for that path alone`,
    async fn() {
      const dataDir = await makeDataDir("footfall-https-");
      const settings = { BASE_PATH: basePath!, TRUSTED_PROXIES: "127.0.0.1" };
      try {
        await using server = await startServer({ DATA_DIR: dataDir, ...settings });
        const made = await fetch(`${server.url}${basePath}/v1/people`, {
          method: "POST",
          headers: {
            "Authorization": `Bearer ${await operatorToken("read write jobs admin people")}`,
            "Content-Type": "application/json",
          },
          body: JSON.stringify({ email: EMAIL, role: "owner", password: PASSWORD }),
        });
        assert.equal(made.status, 201, await made.text());
        await withProxy(server.url, basePath!, (proxy) => tryOut(proxy, basePath!, cookie!));
        assert.equal(await server.stop(), 0);
      } finally {
        await Deno.remove(dataDir, { recursive: true });
      }
    },
  });
}
