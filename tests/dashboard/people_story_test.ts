/**
 * A newcomer's first days, from the first start to the audit: a server in a process of its own, an
 * identity provider in another, and browsers that are closed and opened again.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Frame, Page } from "puppeteer-core";
import { startProvider } from "../auth/oidc/provider.ts";
import { CLIENT_ID, CLIENT_SECRET } from "../auth/oidc/provider_process.ts";
import { CHROME } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import {
  API_KEY,
  operatorToken,
  ServerProcess,
  startServer,
  until,
} from "../support/server_process.ts";
import { fill, press } from "./acts.ts";
import { openPage, sees, WAIT_MS_MAX, withBrowser } from "./own_browser.ts";
import { follow, isFont, signInThere } from "./provider_page.ts";

const CLOCK = fileURLToPath(new URL("../support/moved_clock.ts", import.meta.url));
const DAY_MS = 86_400_000;
const OWNER = { email: "olive@example.com", name: "Olive Owner" };
const PASSWORD = "green teapots on the moon";
const PROVIDER = "Example ID";
const TITLE = "For our investors";
const PROJECT = "prj_default";

/** A port that is free a moment before somebody takes it. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

async function call(
  server: ServerProcess,
  token: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const reply = await fetch(server.url + path, {
    method,
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === "" ? null : JSON.parse(text) };
}

/** Some people come to the site, so that there is something to show. */
async function visitors(server: ServerProcess): Promise<void> {
  const reply = await fetch(`${server.url}/v1/events`, {
    method: "POST",
    headers: { "X-API-Key": API_KEY, "User-Agent": CHROME, "Content-Type": "application/json" },
    body: JSON.stringify({
      events: Array.from({ length: 7 }, (_, i) => ({
        eventId: crypto.randomUUID(),
        name: "page_view",
        anonymousId: `visitor ${i}`,
        url: "https://shop.example/",
      })),
    }),
  });
  assert.equal(reply.status, 200, await reply.text());
}

/** The owner is made by the link that the start prints; then the browser is closed. */
async function firstDay(server: ServerProcess, profile: string): Promise<void> {
  const link = /^ *(http\S+#setup=\S+)$/m;
  await until(WAIT_MS_MAX, () => Promise.resolve(link.test(server.output)), "the link is printed");
  await withBrowser(async (browser) => {
    const page = await openPage(browser, link.exec(server.output)![1]!);
    await sees(page, "Make your account", "h1");
    await fill(page, "E-mail", OWNER.email);
    await fill(page, "Name", OWNER.name);
    await fill(page, "Password", PASSWORD);
    await page.keyboard.press("Enter");
    await sees(page, OWNER.name, ".side-foot");
  }, profile);
}

/** Whether the page asks for nothing and shows whose it is. */
async function comesBack(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(`{
    const now = Date.now.bind(Date);
    Date.now = () => now() + ${DAY_MS};
  }`);
  page.setDefaultTimeout(WAIT_MS_MAX);
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(url);
  await sees(page, OWNER.name, ".side-foot");
  return page;
}

/** A viewer is invited, chooses a password, and sees one project, which they cannot change. */
async function colleague(server: ServerProcess, owner: Page, context: BrowserContext) {
  await owner.goto(`${server.url}/?view=settings&section=people`);
  await press(owner, "Invite somebody");
  await fill(owner, "E-mail", "victor@example.com");
  await fill(owner, "Name", "Victor Viewer");
  await press(owner, "Invite", ".dialog-foot");
  await sees(owner, "The link for Victor Viewer", ".dialog");
  const url = await owner.$eval(".dialog pre", (pre) => pre.textContent!);
  await press(owner, "I have copied it");

  const page = await openPage(context, url);
  await sees(page, "You are invited as a viewer");
  await fill(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await sees(page, "Victor Viewer", ".side-foot");
  assert.equal(await page.$(".project-switch"), null, "one project alone");
  const { token } = await page.evaluate(`fetch("/v1/auth/token", { method: "POST" })
    .then((reply) => reply.json())`) as { token: string };
  const { body: session } = await call(server, token, "GET", "/v1/session");
  assert.deepEqual(
    [session.scopes, session.projects.map(({ id }: { id: string }) => id)],
    [["read"], [PROJECT]],
  );
  const changed = await call(server, token, "PATCH", `/v1/projects/${PROJECT}`, { name: "Mine" });
  assert.equal(changed.status, 403);
}

/** Somebody of an allowed domain comes by the identity provider. */
async function byProvider(server: ServerProcess, context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS_MAX);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const font = { status: 200, contentType: "text/css", body: "" };
    void (isFont(request) ? request.respond(font) : request.continue()).catch(() => {});
  });
  await page.goto(server.url);
  await follow(page, `Continue with ${PROVIDER}`);
  await signInThere(page, "ada", server.url);
  await sees(page, "Ada", ".side-foot");
}

/** A page of another origin with a frame. */
async function withFrame(work: (origin: string, show: (src: string) => void) => Promise<void>) {
  let src = "";
  const page = () =>
    `<!doctype html><html lang="en"><title>Intranet</title>
    <iframe src="${src}" title="Figures" style="width: 100%; height: 700px; border: 0"></iframe>`;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(page(), { headers: { "Content-Type": "text/html" } }),
  );
  try {
    await work(`http://127.0.0.1:${server.addr.port}`, (address) => src = address);
  } finally {
    await server.shutdown();
  }
}

/** @returns the link */
async function shared(server: ServerProcess, owner: Page, origin: string): Promise<string> {
  await owner.goto(`${server.url}/?view=settings&section=sharing`);
  await press(owner, "Share a dashboard");
  await fill(owner, "Title", TITLE);
  await fill(owner, "Pages that may show it in a frame", origin);
  await press(owner, "Make the link", ".dialog-foot");
  await owner.waitForSelector('[aria-label="The link"]');
  const url = await owner.$eval('[aria-label="The link"]', (pre) => pre.textContent!);
  await press(owner, "Done");
  return url;
}

/** A browser without any account sees the figures in the frame, and no raw events; then nothing. */
async function investor(server: ServerProcess, owner: Page, context: BrowserContext) {
  await withFrame(async (origin, show) => {
    const link = await shared(server, owner, origin);
    show(link);
    const page = await openPage(context, origin);
    const frame: Frame = (await (await page.waitForSelector("iframe"))!.contentFrame())!;
    await sees(frame, TITLE, ".shared-head");
    await frame.waitForSelector(".overview-tiles");
    await sees(frame, "7", ".overview-tiles");
    const id = new URL(link).pathname.split("/").at(-1)!;
    const { token } = (await call(server, "", "POST", `/v1/shares/${id}/token`, {})).body;
    for (const path of ["/v1/events", "/v1/live", `/v1/actors/visitor%200`, "/v1/insights"]) {
      const { status, body } = await call(server, token, "GET", path);
      assert.deepEqual([path, status, body.code], [path, 403, "insufficient_scope"]);
    }
    assert.equal((await call(server, token, "GET", "/v1/kpis")).status, 200);

    await press(owner, `Revoke ${TITLE}`);
    await press(owner, "Revoke the link", ".dialog-foot");
    await sees(owner, "Nothing is shared");
    await frame.select(".bar select", "7d");
    await sees(frame, "There is nothing to see here", "h1");
    const { status } = await call(server, token, "GET", "/v1/kpis");
    assert.equal(status, 401);
  });
}

/** All of it stands there, newest first. */
async function readsAudit(server: ServerProcess, owner: Page): Promise<void> {
  await owner.goto(`${server.url}/?view=settings&section=audit`);
  for (
    const words of [
      "Made the first owner",
      "Invited",
      "Joined by an invitation",
      "Shared a dashboard",
      "Revoked a share",
      "victor@example.com as viewer",
      "ada@shop.example",
    ]
  ) {
    await sees(owner, words, "tbody");
  }
}

Deno.test({
  name:
    "people: from the first start to the audit, over two days, with a colleague, a provider and a frame",
  async fn() {
    const [dataDir, profile] = [await makeDataDir("footfall-story-"), await Deno.makeTempDir()];
    const port = freePort();
    const provider = await startProvider({
      port: 0,
      redirectUri: `http://127.0.0.1:${port}/v1/auth/oidc/callback`,
      keyId: "first",
      // It is asked on the second day.
      clockSeconds: DAY_MS / 1000,
    });
    try {
      await using server = await startServer({
        DATA_DIR: dataDir,
        PORT: String(port),
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT_ID,
        OIDC_CLIENT_SECRET: CLIENT_SECRET,
        OIDC_NAME: PROVIDER,
        OIDC_ALLOWED_DOMAINS: "shop.example",
      }, { preload: CLOCK, keepsOutput: true });
      await firstDay(server, profile);
      const other = { id: "prj_other", name: "Another site" };
      const made = await call(server, await operatorToken(), "POST", "/v1/projects", other);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      await visitors(server);
      // The day after: browsers of others have their own clocks, and see yesterday as today.
      Deno.kill(server.pid, "SIGUSR1");
      await withBrowser(async (browser) => {
        const owner = await comesBack(browser, server.url);
        await colleague(server, owner, await browser.createBrowserContext());
        await byProvider(server, await browser.createBrowserContext());
        await investor(server, owner, await browser.createBrowserContext());
        await readsAudit(server, owner);
      }, profile);
      assert.equal(await server.stop(), 0);
    } finally {
      await provider.stop();
      for (const folder of [dataDir, profile]) await Deno.remove(folder, { recursive: true });
    }
  },
});
