/** Bad days: each is told in a sentence that says what to do, and none opens anything. */
import assert from "node:assert/strict";
import { SIGN_IN_ATTEMPTS_MAX } from "../../src/auth/people/people_limits.ts";
import { CHROME, PUBLIC_PEER } from "../support/app.ts";
import { fill, press } from "./acts.ts";
import { invited, member, openedBy, signIn } from "./members.ts";
import { dashboardWorld, PASSWORD, type Visit } from "./page.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PROJECT = "prj_default";
const EVERY_PROJECT = ["*"];

const test = dashboardWorld({
  isFilled: false,
  // Nothing listens there.
  env: { SMTP_URL: "smtp://127.0.0.1:1", SMTP_FROM: "stats@example.com" },
});

/** With the server's clock so far ahead of the browser's. */
async function ahead(visit: Visit, ms: number, work: () => Promise<void>): Promise<void> {
  visit.world.clock.offsetMs = ms;
  try {
    await work();
  } finally {
    visit.world.clock.offsetMs = 0;
  }
}

const open = (visit: Visit, query = "") => visit.open(query, { token: null, project: PROJECT });

test("bad days: a set-up link of the day before yesterday says where there is a new one", async (visit) => {
  visit.expectedFaults.push("401", "403");
  const secret = await visit.server.app.makeSetUpLink();
  await ahead(visit, DAY_MS + MINUTE_MS, async () => {
    const page = await visit.open("", { fragment: `setup=${secret}` });
    await fill(page, "E-mail", "late@example.com");
    await fill(page, "Name", "Late");
    await fill(page, "Password", PASSWORD);
    await page.keyboard.press("Enter");
    await visit.sees(page, "This link has expired");
    await visit.sees(page, "Each start of the server prints a new one.");
  });
  assert.deepEqual((await visit.server.admin("GET", "/v1/people")).body.people, []);
});

test("bad days: an invitation of last week says whom to ask", async (visit) => {
  visit.expectedFaults.push("401", "403");
  const who = await invited(visit, { projects: EVERY_PROJECT });
  await ahead(visit, 7 * DAY_MS + MINUTE_MS, async () => {
    const page = await visit.open("", { fragment: who.fragment });
    await visit.sees(page, "This link has expired");
    await visit.sees(page, "Ask who invited you for a new one.");
    assert.equal(await page.$("form"), null);
  });
});

test("bad days: an invitation that cannot be mailed says so, and shows the link all the same", async (visit) => {
  const owner = await member(visit, { role: "owner" });
  const page = await openedBy(visit, owner, "view=settings&section=people", { project: PROJECT });
  await press(page, "Invite somebody");
  await fill(page, "E-mail", "grace@example.com");
  await press(page, "Invite", ".dialog-foot");
  await visit.sees(page, "Hand the link over yourself.", ".dialog .banner");
  await visit.sees(page, "#invitation=", ".dialog pre");
  await visit.sees(page, "Send it to grace@example.com yourself.", ".dialog");
});

test("bad days: after ten wrong passwords the page says how long to wait, and then lets one in", async (visit) => {
  visit.expectedFaults.push("401", "429");
  const who = await member(visit, { projects: EVERY_PROJECT });
  const elsewhere = `198.51.100.${SIGN_IN_ATTEMPTS_MAX}`;
  assert.notEqual(elsewhere, PUBLIC_PEER);
  for (let i = 0; i < SIGN_IN_ATTEMPTS_MAX; i++) {
    const { status } = await visit.server.fetch("/v1/auth/sign-in", {
      method: "POST",
      headers: { "Content-Type": "application/json", "User-Agent": CHROME },
      body: JSON.stringify({ email: who.email, password: `guess number ${i}` }),
    }, elsewhere);
    assert.equal(status, 401);
  }
  const page = await open(visit);
  await signIn(page, who);
  await visit.sees(page, "Too many attempts have failed. Try again in 15 minutes.");
  await visit.sees(page, "Sign in", "h1");
  await ahead(visit, 15 * MINUTE_MS, async () => {
    await signIn(page, who);
    await page.waitForSelector(".shell");
  });
});

for (const minutes of [5, -5]) {
  test(`bad days: the server's clock is ${minutes} minutes ahead: nobody notices`, async (visit) => {
    const who = await member(visit, { projects: EVERY_PROJECT });
    await ahead(visit, minutes * MINUTE_MS, async () => {
      const page = await openedBy(visit, who, "", { project: PROJECT });
      await visit.settled(page);
      // The token has ended as the server sees it, and for the browser it has not, or the other way round.
      visit.world.clock.offsetMs += 16 * MINUTE_MS;
      await page.locator("nav ::-p-text(Goals)").click();
      await visit.sees(page, "Goals", "h1");
      await visit.settled(page);
      assert.equal(await page.$(".note-error"), null);
      await page.reload();
      await visit.sees(page, who.name, ".side-foot");
    });
  });
}
