import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { enter, focused, press, tabTo, typeInto } from "./acts.ts";
import { member, openedBy, signIn } from "./members.ts";
import { dashboardWorld, DEMO, FUNNEL, PASSWORD, type Visit } from "./page.ts";

const test = dashboardWorld();
const TOKEN_PATH = "/v1/auth/token";

/** Counts the page's requests by their method and path. */
function counted(visit: Visit): Map<string, number> {
  const counts = new Map<string, number>();
  const before = visit.intercept;
  visit.intercept = (request) => {
    const at = `${request.method()} ${new URL(request.url()).pathname}`;
    counts.set(at, (counts.get(at) ?? 0) + 1);
    return before(request);
  };
  return counts;
}

const problem = (status: number, code: string, detail: string) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ status, code, title: code, detail }),
});

test("people: by keyboard alone, into the very view that a colleague sent", async (visit) => {
  visit.expectedFaults.push("401");
  const who = await member(visit);
  const query = `view=funnels&funnel=${FUNNEL.slug}&range=7d`;
  const page = await visit.open(query, { token: null });
  await visit.sees(page, "Sign in", "h1");
  const address = page.url();
  // Typing begins in the first field.
  await visit.until(page, `document.activeElement.type === "email"`);
  await page.keyboard.type(who.email);
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await visit.sees(page, "Funnels", "h1");
  assert.equal(page.url(), address);
  await visit.sees(page, who.name, ".side-foot");
  // Another tab, and tomorrow's browser: nobody is asked again.
  const other = await visit.open("view=goals", { token: null });
  await visit.sees(other, "Goals", "h1");
  await page.reload();
  await visit.sees(page, "Funnels", "h1");
});

test("people: no page of theirs keeps a token, and no script sees the session", async (visit) => {
  const page = await openedBy(visit, await member(visit));
  await visit.settled(page);
  const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])";
  const text = String(await page.evaluate(kept));
  assert.ok(!text.includes("eyJ") && !text.includes("footfall=") && !text.includes("ses_"), text);
});

test("people: a wrong password and an unknown address are told alike", async (visit) => {
  visit.expectedFaults.push("401");
  const who = await member(visit);
  const page = await visit.open("", { token: null });
  await signIn(page, who, "not the password at all");
  await page.waitForSelector(".field-error");
  const known = await visit.text(page, ".field-error");
  await signIn(page, { email: "nobody@example.com" });
  await visit.until(page, `document.querySelector(".button-primary").disabled === false`);
  await page.waitForSelector(".field-error");
  assert.equal(await visit.text(page, ".field-error"), known);
  // It can be mended where one is.
  await signIn(page, who);
  await visit.sees(page, "Overview", "h1");
});

test("people: what is missing is told before the server is asked", async (visit) => {
  visit.expectedFaults.push("401");
  const counts = counted(visit);
  const page = await visit.open("", { token: null });
  await page.waitForSelector("input[type=email]");
  await enter(page, "Sign in");
  await visit.sees(page, "Type your e-mail address.");
  await visit.sees(page, "Type your password.");
  assert.equal(counts.get("POST /v1/auth/sign-in"), undefined);
});

test("people: a password can be looked at while it is typed", async (visit) => {
  visit.expectedFaults.push("401");
  const page = await visit.open("", { token: null });
  await page.waitForSelector("input[type=password]");
  await typeInto(page, "Password", "tea");
  await enter(page, "Show: Password");
  await visit.until(page, `document.querySelector(".password input").type === "text"`);
});

test("people: a token that ended is renewed, and nobody notices", async (visit) => {
  const page = await openedBy(visit, await member(visit));
  await visit.settled(page);
  // A token tells the second in which it was made: one of the same second would be the same, and refused again.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const refused = new Set<string>();
  visit.intercept = (request) => {
    const { authorization = "" } = request.headers();
    const isRead = new URL(request.url()).pathname === "/v1/trends";
    if (!isRead || (refused.size > 0 && !refused.has(authorization))) return undefined;
    refused.add(authorization);
    return problem(401, "expired_token", "The token has expired.");
  };
  const counts = counted(visit);
  await page.locator("nav ::-p-text(Trends)").click();
  await visit.sees(page, "Trends", "h1");
  await visit.settled(page);
  assert.equal(refused.size, 1);
  assert.equal(counts.get(`POST ${TOKEN_PATH}`), 1, "one renewal for all who asked");
  assert.equal(await page.$(".note-error"), null);
});

/** A clock that can be set forward, as by a laptop that slept. */
async function withClock(page: Page): Promise<(ms: number) => Promise<void>> {
  await page.evaluate(`globalThis.sleptMs = 0;
    const now = Date.now.bind(Date);
    Date.now = () => now() + globalThis.sleptMs;`);
  return async (ms) => void await page.evaluate(`globalThis.sleptMs += ${ms}`);
}

test("people: after a night's sleep the token is renewed before the first request", async (visit) => {
  const page = await openedBy(visit, await member(visit));
  await visit.settled(page);
  const sleep = await withClock(page);
  const counts = counted(visit);
  await sleep(12 * 3_600_000);
  const faults = visit.faults.length;
  await page.locator("nav ::-p-text(Goals)").click();
  await visit.sees(page, "Goals", "h1");
  await visit.settled(page);
  assert.ok(counts.get(`POST ${TOKEN_PATH}`)! >= 1);
  assert.equal(visit.faults.length, faults, "no request went with the old one");
});

test("people: who signs out in one tab is signed out in the others, and in again too", async (visit) => {
  const who = await member(visit);
  const page = await openedBy(visit, who);
  const other = await visit.open("view=goals", { token: null });
  await visit.sees(other, "Goals", "h1");
  await enter(page, "Sign out");
  await visit.sees(page, "Sign in", "h1");
  await visit.sees(other, "You signed out in another tab.");
  await page.reload();
  await visit.sees(page, "Sign in", "h1");
  await signIn(page, who);
  await visit.sees(page, "Overview", "h1");
  await visit.sees(other, "Goals", "h1");
});

test("people: a sign-out that fails says so, and signs nobody out", async (visit) => {
  visit.expectedFaults.push("503");
  const page = await openedBy(visit, await member(visit));
  await visit.settled(page);
  visit.intercept = (request) =>
    !request.url().endsWith("/sign-out")
      ? undefined
      : problem(503, "database_unavailable", "The database is away. Try again.");
  await press(page, "Sign out", ".side");
  await visit.sees(page, "You are still signed in. The database is away.");
  await visit.sees(page, "Overview", "h1");
});

test("people: whoever is removed is out at once, told why, and not let in again", async (visit) => {
  const who = await member(visit);
  const page = await openedBy(visit, who);
  await visit.settled(page);
  const { status } = await visit.server.admin("DELETE", `/v1/people/${who.id}`);
  assert.equal(status, 204);
  await page.locator("nav ::-p-text(Goals)").click();
  await visit.sees(page, "Your session has ended. Sign in again to go on here.");
  // The page knows whom it expects.
  await visit.until(page, `document.querySelector("input[type=email]").value !== ""`);
  await tabTo(page, "Password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".field-error");
  await visit.sees(page, "Sign in", "h1");
});

test("people: another role holds from the next request on, without signing in again", async (visit) => {
  const who = await member(visit, { role: "viewer" });
  const page = await openedBy(visit, who, "view=settings");
  await visit.settled(page);
  assert.equal(await page.$(".settings-keys"), null);
  const { status } = await visit.server.admin("PATCH", `/v1/people/${who.id}`, { role: "admin" });
  assert.equal(status, 200);
  await page.locator("nav ::-p-text(Goals)").click();
  await visit.sees(page, "Goals", "h1");
  await page.locator("nav ::-p-text(Settings)").click();
  await page.waitForSelector(".settings-keys");
});

test("people: while the server is out of reach nobody is signed out; then it goes on", async (visit) => {
  visit.expectedFaults.push("503");
  const page = await openedBy(visit, await member(visit));
  await visit.settled(page);
  visit.intercept = (request) =>
    request.url().endsWith(TOKEN_PATH)
      ? problem(503, "database_unavailable", "The database is away. Try again.")
      : undefined;
  await page.reload();
  await visit.sees(page, "The database is away. Try again.");
  visit.intercept = () => undefined;
  await enter(page, "Try again");
  await visit.sees(page, "Overview", "h1");
});

test("people: a browser that keeps no cookie is told what to do", async (visit) => {
  visit.expectedFaults.push("401");
  visit.intercept = (request) =>
    request.url().endsWith("/v1/auth/sign-in") ? { status: 200, body: "{}" } : undefined;
  const page = await visit.open("", { token: null });
  await signIn(page, { email: "ada@example.com" });
  await visit.sees(page, "Allow cookies for this address, then sign in again.");
});

test("people: what answers nonsense in the way in is told, and opens nothing", async (visit) => {
  visit.expectedFaults.push("401", "429", "502");
  let reply = problem(429, "too_many_attempts", "Too many attempts. Try again in 12 minutes.");
  visit.intercept = (request) => request.url().endsWith("/v1/auth/sign-in") ? reply : undefined;
  const page = await visit.open("", { token: null });
  await signIn(page, { email: "ada@example.com" });
  await visit.sees(page, "Too many attempts. Try again in 12 minutes.");
  reply = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
  await signIn(page, { email: "ada@example.com" });
  await visit.sees(page, "The server cannot be reached.");
  await visit.sees(page, "Sign in", "h1");
});

test("people: a link with a token opens its tab alone; when it ends, the session goes on", async (visit) => {
  visit.expectedFaults.push("401");
  const who = await member(visit);
  const page = await openedBy(visit, who);
  const { body } = await visit.server.admin("POST", "/v1/internal/tokens", {
    projects: [DEMO],
    scope: "read",
    ttlSeconds: 600,
    subject: "a link",
  });
  const linked = await visit.open("view=settings&section=browser", { token: body.token });
  await visit.sees(linked, "Opened with a token for a link");
  await visit.sees(page, who.name, ".side-foot");
  visit.intercept = (request) =>
    request.headers().authorization === `Bearer ${body.token}`
      ? problem(401, "expired_token", "The token has expired.")
      : undefined;
  await linked.locator("nav ::-p-text(Goals)").click();
  await visit.sees(linked, who.name, ".side-foot");
  await visit.sees(linked, "Goals", "h1");
});

test("people: on a phone", async (visit) => {
  const page = await openedBy(visit, await member(visit), "", { widthPx: 390, heightPx: 844 });
  await press(page, "Menu", ".side");
  await page.locator(".who").click();
  await visit.sees(page, "Where you are signed in");
  await visit.sees(page, "This browser", ".sessions");
});
