import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { enter, fill } from "./acts.ts";
import { dashboardWorld, DEMO, type Visit } from "./page.ts";

const test = dashboardWorld();
const EXPIRED = "Your link has expired. Make a new one: deno task footfall token --link";

/** The sign-in page, with the way in by a token unfolded. */
async function tokenForm(visit: Visit): Promise<Page> {
  // That nobody is signed in is a 401, which browsers tell of.
  visit.expectedFaults.push("401");
  const page = await visit.open("", { token: null });
  await page.waitForSelector("input[type=email]");
  await enter(page, "Sign in with a token");
  return page;
}

test("sign-in: a link signs in, and its token leaves the address at once", async (visit) => {
  const page = await visit.open();
  await visit.sees(page, "Overview", "h1");
  assert.ok(!page.url().includes("token"), page.url());
  const past = await page.evaluate("JSON.stringify([location.href, document.referrer])");
  assert.ok(!String(past).includes("token"), String(past));
  // The tab remembers it; another one does not.
  await page.reload();
  await visit.sees(page, "Overview", "h1");
  visit.expectedFaults.push("401");
  const other = await visit.open("", { token: null });
  await visit.sees(other, "Sign in", "h1");
});

test("sign-in: no request carries the token but in its header", async (visit) => {
  const token = await visit.token();
  const addresses: string[] = [];
  visit.intercept = (request) => {
    addresses.push(request.url());
    return undefined;
  };
  const page = await visit.open("", { token });
  await visit.settled(page);
  assert.ok(addresses.length > 5);
  assert.deepEqual(addresses.filter((address) => address.split("#")[0]!.includes(token)), []);
});

test("sign-in: a pasted token, or a whole link, opens the dashboard", async (visit) => {
  for (const wrap of [(token: string) => token, (token: string) => `http://x/#token=${token}`]) {
    const page = await tokenForm(visit);
    await fill(page, "Token or link", wrap(await visit.token()));
    await page.keyboard.press("Enter");
    await visit.sees(page, "Overview", "h1");
    await page.evaluate("sessionStorage.clear()");
    await page.close();
  }
});

test("sign-in: a token that is none is refused in words", async (visit) => {
  const page = await tokenForm(visit);
  await fill(page, "Token or link", "not-a-token");
  await page.keyboard.press("Enter");
  await visit.sees(page, "This token is not valid here");
  await visit.sees(page, "Sign in", "h1");
});

test("sign-in: an expired token says so, and how to get another", async (visit) => {
  visit.expectedFaults.push("401");
  const { body } = await visit.server.admin("POST", "/v1/internal/tokens", {
    projects: [DEMO],
    scope: "read",
    ttlSeconds: 1,
    subject: "brief",
  });
  const page = await visit.open("", { token: body.token });
  // Whether it ends while the page is open or before it is: the words are the same.
  await visit.sees(page, EXPIRED);
  await visit.sees(page, "Sign in", "h1");
  assert.equal(await page.evaluate("sessionStorage.length"), 0);
});

test("sign-in: a token that ends while the page is open leads back, in words", async (visit) => {
  visit.expectedFaults.push("401");
  const page = await visit.open();
  await visit.settled(page);
  visit.intercept = (request) =>
    !request.url().includes("/v1/kpis") ? undefined : {
      status: 401,
      contentType: "application/problem+json",
      body: JSON.stringify({ status: 401, code: "expired_token", title: "x", detail: "x" }),
    };
  await page.evaluate(`document.querySelector('select')`);
  await page.reload();
  await visit.sees(page, EXPIRED);
});

test("sign-in: signing out forgets the token", async (visit) => {
  visit.expectedFaults.push("401");
  const page = await visit.open();
  await visit.sees(page, "Overview", "h1");
  await page.locator("::-p-text(Sign out)").click();
  await visit.sees(page, "Sign in", "h1");
  await page.reload();
  await visit.sees(page, "Sign in", "h1");
});
