import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { assertProblem, type Json } from "../support/app.ts";
import { until } from "../support/server_process.ts";
import { enter as pressEnter, fill, press, typeInto } from "./acts.ts";
import { assertAccessible, assertFits } from "./axe.ts";
import { dashboardWorld, DEMO, FUNNEL, GOAL, type Visit } from "./page.ts";
import { bodyOf, NEW_SHARE } from "../../src/dashboard/views/settings_share_form.ts";
import { FiltersSchema } from "../../src/query/filters.ts";

const test = dashboardWorld();

Deno.test("share form: a condition without a value is sent to be refused, not left out", () => {
  const filters = [{ field: "country", op: "is", values: [] }];
  assert.deepEqual(bodyOf({ ...NEW_SHARE, filters }, null).filters, filters);
  assert.equal(FiltersSchema.safeParse(filters).success, false);
});

const VIEWS = ["overview", "trends", "funnels", "retention", "goals", "heatmaps"];
const PATH = `/v1/projects/${DEMO}/shares`;
const WAIT_MS_MAX = 30_000;

async function share(visit: Visit, wanted: Json = {}): Promise<{ id: string; path: string }> {
  const body = { title: "For our investors", views: VIEWS, ...wanted };
  const reply = await visit.server.admin("POST", PATH, body);
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return { id: reply.body.id, path: `/share/${reply.body.id}` };
}

const at = (visit: Visit, path: string) => `${visit.world.url}${path}`;

/** The token that the page reads by, as its requests show it. */
function watchToken(page: Page): () => string {
  let token = "";
  page.on("request", (request) => {
    const bearer = /^Bearer (.+)$/.exec(request.headers()["authorization"] ?? "")?.[1];
    if (bearer !== undefined) token = bearer;
  });
  return () => token;
}

test("shares: a browser without an account sees every view, and nothing that names people", async (visit) => {
  const { path } = await share(visit);
  const page = await visit.openAt(at(visit, path));
  await visit.sees(page, "For our investors", "header");
  for (const view of VIEWS) {
    await visit.settled(page);
    const title = view[0]!.toUpperCase() + view.slice(1);
    await page.evaluate(`[...document.querySelectorAll(".shared-nav a")]
      .find((each) => each.textContent.trim() === ${JSON.stringify(title)}).click()`);
    await visit.sees(page, title, "h1");
    await visit.settled(page);
    const text = await visit.text(page);
    assert.doesNotMatch(text, /Sign out|Settings|visitors now|New goal|New funnel/i, view);
    assert.equal(await page.$('[role="alert"]'), null, view);
  }
  await visit.sees(page, "fewer than 3 people", ".shared-foot");
});

test("shares: its figures are those of the dashboard, and its token opens no raw events", async (visit) => {
  const { path } = await share(visit, { views: ["overview"] });
  const page = await visit.openAt(at(visit, path));
  const token = watchToken(page);
  await visit.settled(page);
  await page.reload();
  await visit.settled(page);
  const { totals } = await visit.read("kpis");
  await visit.sees(page, totals.visitors.toLocaleString("en"), ".overview-tiles");
  const headers = { Authorization: `Bearer ${token()}` };
  const ask = (name: string) => visit.server.fetch(`/v1/${name}`, { headers });
  assert.equal((await ask("kpis")).status, 200);
  for (const name of ["events", "live", "insights", "session", `projects/${DEMO}`, "trends"]) {
    assertProblem(await ask(name), 403, "insufficient_scope");
  }
});

test("shares: the saved funnels and goals are shown as they are", async (visit) => {
  const { path } = await share(visit, { views: ["funnels", "goals"] });
  const page = await visit.openAt(at(visit, path));
  await visit.sees(page, FUNNEL.title, ".funnels-saved");
  await visit.settled(page);
  const funnel = await visit.read(`funnels/${FUNNEL.slug}`);
  await visit.sees(page, funnel.entered.toLocaleString("en"), ".funnels-tiles");
  await page.goto(at(visit, `${path}?view=goals`));
  await visit.sees(page, GOAL.title, "table");
});

test("shares: a funnel is compared where that is chosen", async (visit) => {
  const { path } = await share(visit, { views: ["funnels"] });
  const page = await visit.openAt(at(visit, path));
  await visit.sees(page, FUNNEL.title, ".funnels-saved");
  await page.select(".bar select:has(option[value=previous])", "previous");
  await visit.sees(page, "Changes are against", ".funnels-result");
});

test("shares: its filters stand there and cannot be taken off; others can be added", async (visit) => {
  const filters = [{ field: "device", op: "is", values: ["desktop"] }];
  const { path } = await share(visit, { views: ["overview"], filters });
  const own = [{ field: "country", op: "exists", values: [] }];
  const query = new URLSearchParams({ filters: JSON.stringify(own) });
  const page = await visit.openAt(at(visit, `${path}?${query}`));
  await visit.settled(page);
  await visit.sees(page, "Device is Desktop", ".chip-forced");
  assert.equal(await page.$(".chip-forced button"), null);
  await visit.sees(page, "Country is set", ".chip-text");
  const { totals } = await visit.read("kpis", { filters: [...filters, ...own] });
  await visit.sees(page, totals.visitors.toLocaleString("en"), ".overview-tiles");
});

test("shares: the password opens it by keyboard alone; a wrong one and an outage are told", async (visit) => {
  visit.expectedFaults.push("status of 401", "503");
  const { path } = await share(visit, { views: ["overview"], password: "open sesame" });
  const page = await visit.openAt(at(visit, path));
  await visit.sees(page, "This dashboard has a password", "h1");
  await assertAccessible(page, "the password");
  await typeInto(page, "Password", "open barley");
  await page.keyboard.press("Enter");
  await visit.sees(page, "This is not the password of this dashboard.");
  const detail = "The database cannot be reached.";
  const problem = { status: 503, code: "database_unavailable", detail };
  visit.intercept = (request) =>
    !request.url().endsWith("/token") ? undefined : {
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    };
  await page.keyboard.press("Enter");
  await visit.sees(page, detail);
  visit.intercept = () => undefined;
  await fill(page, "Password", "open sesame");
  await page.keyboard.press("Enter");
  await visit.sees(page, "For our investors", "header");
  await visit.settled(page);
});

test("shares: a token that has ended is renewed without a word, password and all", async (visit) => {
  visit.expectedFaults.push("status of 401");
  const { path } = await share(visit, { views: ["overview"], password: "open sesame" });
  const page = await visit.openAt(at(visit, path));
  await fill(page, "Password", "open sesame");
  await page.keyboard.press("Enter");
  await visit.sees(page, "For our investors", "header");
  await visit.settled(page);
  const body = JSON.stringify({ status: 401, code: "expired_token", detail: "It has expired." });
  let refusals = 0;
  visit.intercept = (request) =>
    request.url().includes("/v1/kpis") && refusals++ === 0 ? { status: 401, body } : undefined;
  await page.select(".bar select", "7d");
  await visit.settled(page);
  assert.ok(refusals >= 2);
  assert.equal(await page.$(".sign-in"), null);
});

test("shares: revoked, it shows nothing more, and says so in words", async (visit) => {
  visit.expectedFaults.push("status of 401", "status of 404");
  const { id, path } = await share(visit, { views: ["overview"] });
  const page = await visit.openAt(at(visit, path));
  await visit.settled(page);
  assert.equal((await visit.server.admin("DELETE", `${PATH}/${id}`)).status, 204);
  await page.select(".bar select", "7d");
  await visit.sees(page, "There is nothing to see here", "h1");
  assert.doesNotMatch(await visit.text(page), /Visitors|investors/);
  await page.reload();
  await visit.sees(page, "There is nothing to see here", "h1");
  await assertAccessible(page, "the end of a share");
});

test("shares: a server whose tokens are an identity provider's says that it shares nothing", async (visit) => {
  visit.expectedFaults.push("status of 409");
  const { path } = await share(visit);
  const problem = {
    status: 409,
    code: "conflict",
    title: "Conflict",
    detail: "It shares nothing.",
  };
  visit.intercept = (request) =>
    request.url().includes("/v1/shares/")
      ? { status: 409, contentType: "application/problem+json", body: JSON.stringify(problem) }
      : undefined;
  const page = await visit.openAt(at(visit, path));
  await visit.sees(page, "This server shares no dashboards", "h1");
  await visit.sees(page, "Ask whoever sent it to you");
});

/** A page of another origin that holds an address in a frame. */
async function framed(
  visit: Visit,
  work: (outer: { readonly url: string; readonly show: (src: string) => void }) => Promise<void>,
): Promise<void> {
  let src = "";
  const page = () =>
    `<!doctype html><html lang="en"><title>Intranet</title>
    <iframe src="${src}" title="Figures" style="width: 100%; height: 700px; border: 0"></iframe>`;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(page(), { headers: { "Content-Type": "text/html" } }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  visit.expectedFaults.push(`another origin: ${url}`);
  try {
    await work({ url, show: (address) => src = address });
  } finally {
    await server.shutdown();
  }
}

/** The document inside of the page's frame. */
async function inside(page: Page) {
  const element = await page.waitForSelector("iframe");
  const frame = await element!.contentFrame();
  assert.ok(frame);
  return frame;
}

test("shares: it stands in a page of another origin that it names, as wide and as dark as its frame", async (visit) => {
  await framed(visit, async (outer) => {
    const { path } = await share(visit, { views: ["overview"], embedOrigins: [outer.url] });
    outer.show(at(visit, path));
    for (const scheme of ["light", "dark"] as const) {
      const page = await visit.openAt(outer.url, { scheme });
      const frame = await inside(page);
      await frame.waitForSelector(".overview-tiles");
      await visit.settled(page);
      assert.equal(await frame.evaluate("document.documentElement.dataset.theme"), scheme);
      assert.match(String(await frame.evaluate("document.body.innerText")), /For our investors/);
      // Nothing of its own beside what the page around it decides.
      assert.equal(await frame.$('[aria-label="Colours"]'), null);
      for (const widthPx of [1200, 400]) {
        await page.setViewport({ width: widthPx, height: 900 });
        const overflow = "document.documentElement.scrollWidth - innerWidth";
        await until(
          WAIT_MS_MAX,
          async () => Number(await frame.evaluate(overflow)) <= 0,
          `it fits into ${widthPx} px`,
        );
      }
      await visit.picture(page, `shared-framed-${scheme}`);
      await page.close();
    }
  });
});

test("shares: no other page may hold it in a frame, nor any page the dashboard itself", async (visit) => {
  visit.expectedFaults.push("frame-ancestors");
  await framed(visit, async (outer) => {
    const { path } = await share(visit, { embedOrigins: ["https://intranet.example"] });
    for (const address of [path, "/"]) {
      outer.show(at(visit, address));
      const page = await visit.openAt(outer.url);
      const frame = await inside(page);
      await until(
        WAIT_MS_MAX,
        () => Promise.resolve(visit.faults.some((fault) => fault.includes("frame-ancestors"))),
        `the frame of ${address} is refused`,
      );
      assert.equal(await frame.$("#app").catch(() => null), null);
      visit.faults.length = 0;
      await page.close();
    }
  });
});

for (const scheme of ["light", "dark"] as const) {
  test(`shares: accessible in every view, ${scheme}, wide and on a phone`, async (visit) => {
    const filters = [{ field: "device", op: "exists", values: [] }];
    const { path } = await share(visit, { filters });
    for (const view of VIEWS) {
      const page = await visit.openAt(at(visit, `${path}?view=${view}`), { scheme });
      await assertFits(visit, page, `shared-${view}-${scheme}`);
      await page.close();
    }
  });
}

const sharing = "view=settings&section=sharing";
const listed = async (visit: Visit) => (await visit.server.admin("GET", PATH)).body.shares;

test("shares: settings make, change and revoke one by keyboard alone, with what embeds it", async (visit) => {
  for (const { id } of await listed(visit)) await visit.server.admin("DELETE", `${PATH}/${id}`);
  const page = await visit.open(sharing);
  await visit.sees(page, "Nothing is shared");
  await pressEnter(page, "Share a dashboard");
  await typeInto(page, "Title", "Board & friends");
  await typeInto(page, "Pages that may show it in a frame", "https://intranet.example.com");
  await pressEnter(page, "Make the link");
  const [made] = await until(
    WAIT_MS_MAX,
    async () => (await listed(visit)).length > 0,
    "the share is stored",
  ).then(() => listed(visit));
  await visit.sees(page, `${visit.world.url}/share/${made.id}`, "dialog");
  await visit.sees(page, 'title="Board &#38; friends"', "dialog");
  await assertAccessible(page, "the link");
  await pressEnter(page, "Done");
  await pressEnter(page, "Change Board & friends");
  await fill(page, "Title", "The board");
  await fill(page, "Smallest group", "5");
  await page.keyboard.press("Enter");
  await visit.sees(page, "The board", "table");
  const [changed] = await listed(visit);
  assert.deepEqual(
    [changed.title, changed.minimumVisitors, changed.embedOrigins],
    ["The board", 5, ["https://intranet.example.com"]],
  );
  await pressEnter(page, "Revoke The board");
  await pressEnter(page, "Revoke the link");
  await visit.sees(page, "Nothing is shared");
  assert.deepEqual(await listed(visit), []);
});

test("shares: what the server refuses is told at its field", async (visit) => {
  visit.expectedFaults.push("status of 400");
  const page = await visit.open(sharing);
  await press(page, "Share a dashboard");
  await fill(page, "Title", "Board");
  await fill(page, "Pages that may show it in a frame", "intranet");
  await page.evaluate(`document.querySelector("#share").requestSubmit()`);
  await visit.sees(page, "Give an origin such as https://example.com", "dialog .field-error");
});

for (const scheme of ["light", "dark"] as const) {
  test(`shares: settings are accessible, ${scheme}, wide and on a phone`, async (visit) => {
    await share(visit, { password: "open sesame", expiresAt: "2099-01-01T00:00:00Z" });
    const page = await visit.open(sharing, { scheme });
    await assertFits(visit, page, `sharing-${scheme}`);
    await press(page, "Share a dashboard");
    await visit.sees(page, "It shows", "dialog");
    await assertFits(visit, page, `sharing-dialog-${scheme}`);
  });
}
