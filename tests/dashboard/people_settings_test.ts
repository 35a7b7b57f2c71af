import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { enter, fill, press, tabTo, typeInto } from "./acts.ts";
import { fragmentOf, member, openedBy } from "./members.ts";
import { ALL_SCOPES, dashboardWorld, DEMO, OWNER, PASSWORD, type Visit } from "./page.ts";

const test = dashboardWorld();
const PHONE = { widthPx: 390, heightPx: 844 };

async function section(visit: Visit, name: string, who = OWNER, options = {}): Promise<Page> {
  const page = await openedBy(visit, who, `view=settings&section=${name}`, options);
  await page.waitForSelector(".settings-nav");
  await visit.settled(page);
  return page;
}

async function peopleOf({ server }: Visit): Promise<{ email: string; role: string }[]> {
  return (await server.admin("GET", "/v1/people")).body.people;
}

test("People: somebody is invited by keyboard, and the link lets them in", async (visit) => {
  const page = await section(visit, "people");
  await enter(page, "Invite somebody");
  await page.waitForSelector(".dialog[open]");
  await typeInto(page, "E-mail", "grace@example.com");
  await typeInto(page, "Name", "Grace Hopper");
  await tabTo(page, "Viewer");
  await page.keyboard.press("ArrowDown");
  await enter(page, "Invite");
  await visit.sees(page, "The link for Grace Hopper", ".dialog");
  await visit.sees(page, "It works once, until", ".dialog");
  const url = await page.$eval(".dialog pre", (pre) => pre.textContent!);
  await enter(page, "I have copied it");
  await visit.sees(page, "Invited, not here yet", "tbody");
  const [invited] = (await peopleOf(visit)).filter(({ email }) => email === "grace@example.com");
  assert.equal(invited!.role, "editor");
  const joining = await visit.open("", { fragment: fragmentOf(url) });
  await visit.sees(joining, "You are invited as an editor");
});

test("People: where nobody has an account yet, the list says so", async (visit) => {
  visit.intercept = (request) =>
    new URL(request.url()).pathname === "/v1/people"
      ? { status: 200, contentType: "application/json", body: JSON.stringify({ people: [] }) }
      : undefined;
  const token = await visit.token(`${ALL_SCOPES} people`);
  const page = await visit.open("view=settings&section=people", { token });
  await visit.sees(page, "Nobody has an account yet");
});

test("People: an invitation is to the project that is looked at, until others are chosen", async (visit) => {
  const page = await section(visit, "people");
  await press(page, "Invite somebody");
  await fill(page, "E-mail", "here@example.com");
  await press(page, "All projects", ".dialog");
  await press(page, "Some", ".dialog");
  await press(page, "Invite", ".dialog-foot");
  await visit.sees(page, "The link for here", ".dialog");
  const { people } = (await visit.server.admin("GET", "/v1/people")).body;
  const { projects } = people.find(({ email }: { email: string }) => email === "here@example.com");
  assert.deepEqual(projects, [DEMO]);
});

test("People: what is wrong with an invitation is told at its field", async (visit) => {
  visit.expectedFaults.push("400");
  const page = await section(visit, "people");
  await press(page, "Invite somebody");
  await fill(page, "E-mail", "grace");
  await press(page, "Invite", ".dialog-foot");
  await page.waitForSelector(".dialog input[aria-invalid=true]");
  await visit.sees(page, "Give an e-mail address", ".dialog");
  assert.equal(await page.$$eval(".dialog [role=alert]", ({ length }) => length), 1);
});

test("People: role and projects are changed, a reset is made, and somebody is removed", async (visit) => {
  const who = await member(visit, { role: "viewer" });
  const page = await section(visit, "people");
  await press(page, `Change ${who.name}`);
  await page.waitForSelector(".dialog[open]");
  await page.evaluate(
    `[...document.querySelectorAll(".role")].find((each) => each.innerText.includes("Admin")).click()`,
  );
  await press(page, "All projects", ".dialog");
  await press(page, "Save changes", ".dialog");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  const found = (await visit.server.admin("GET", "/v1/people")).body.people
    .find(({ id }: { id: string }) => id === who.id);
  assert.deepEqual([found.role, found.projects], ["admin", ["*"]]);
  await press(page, `Reset ${who.name}`);
  await visit.sees(page, "lets them choose a new password", ".dialog");
  await press(page, "Make the link", ".dialog");
  await visit.sees(page, "#reset=", ".dialog pre");
  await press(page, "I have copied it", ".dialog");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  await press(page, `Remove ${who.name}`);
  await visit.sees(page, "is signed out everywhere at once", ".dialog");
  await press(page, "Remove", ".dialog-foot");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  assert.ok(!(await peopleOf(visit)).some(({ email }) => email === who.email));
});

test("People: the last owner stays, and is told why", async (visit) => {
  visit.expectedFaults.push("409");
  const page = await section(visit, "people");
  await press(page, `Remove ${OWNER.name}`);
  await page.waitForSelector(".dialog[open]");
  await press(page, "Remove", ".dialog-foot");
  await visit.sees(page, "owner", ".dialog .field-error");
  await press(page, "Cancel", ".dialog");
  await press(page, `Change ${OWNER.name}`);
  await page.waitForSelector(".dialog[open]");
  await page.evaluate(`document.querySelector(".role").click()`);
  await press(page, "Save changes", ".dialog");
  await visit.sees(page, "owner", ".dialog .field-error");
  assert.ok((await peopleOf(visit)).some(({ email }) => email === OWNER.email));
});

test("People: an admin is offered neither people nor the audit", async (visit) => {
  const who = await member(visit, { role: "admin" });
  const page = await section(visit, "people", who);
  const tabs = await visit.text(page, ".settings-nav");
  assert.equal(tabs.trim(), "Project Sharing Import Reports & alerts API tokens This account");
  // An address that somebody else sent leads to what there is.
  await page.waitForSelector(".settings-install");
});

test("This account: the name is changed, and stands at the side", async (visit) => {
  const who = await member(visit);
  const page = await section(visit, "account", who);
  await fill(page, "Name", "Grace B. Hopper");
  await enter(page, "Save the name");
  await visit.sees(page, "Saved");
  await visit.sees(page, "Grace B. Hopper", ".side-foot");
});

test("This account: another password, by keyboard on a phone; the old one opens nothing", async (visit) => {
  visit.expectedFaults.push("400", "401");
  const who = await member(visit);
  const page = await section(visit, "account", who, PHONE);
  await typeInto(page, "Present password", "not this one at all");
  await typeInto(page, "New password", "a lantern in the orchard");
  await enter(page, "Change the password");
  await page.waitForSelector(".field-error");
  await fill(page, "Present password", PASSWORD);
  await enter(page, "Change the password");
  await visit.sees(page, "Changed. Every other browser is signed out.");
  await page.waitForSelector(".shell");
  assert.equal(await page.evaluate(`document.querySelector(".password input").value`), "");
});

test("This account: another browser is signed out, alone and with all", async (visit) => {
  const who = await member(visit);
  const context = await visit.context.browser().createBrowserContext();
  try {
    const other = await context.newPage();
    await other.setViewport({ width: 1440, height: 900 });
    await other.goto(visit.world.url);
    await fill(other, "E-mail", who.email);
    await fill(other, "Password", PASSWORD);
    await other.keyboard.press("Enter");
    await other.waitForSelector(".shell");
    const page = await section(visit, "account", who);
    await visit.sees(page, "Chrome", ".sessions");
    await visit.sees(page, "This browser", ".sessions");
    await press(page, "Sign out Chrome", ".sessions");
    await visit.until(page, `document.querySelectorAll(".session").length === 1`);
    await other.locator("nav ::-p-text(Goals)").click();
    await visit.sees(other, "Your session has ended.");
    await press(page, "Sign out everywhere");
    await visit.sees(page, "this one too", ".dialog");
    await press(page, "Sign out everywhere", ".dialog-foot");
    await visit.sees(page, "You are signed out everywhere.");
    await visit.sees(page, "Sign in", "h1");
  } finally {
    await context.close();
  }
});

test("API tokens: made by keyboard, shown once, listed with their last use, revoked", async (visit) => {
  const page = await section(visit, "tokens");
  await visit.sees(page, "There is no API token");
  await enter(page, "Create a token");
  await page.waitForSelector(".dialog[open]");
  await typeInto(page, "Name", "Weekly report");
  await enter(page, "Create the token");
  await visit.sees(page, "never shown again", ".dialog");
  const token = await page.$eval(".dialog pre", (pre) => pre.textContent!);
  await enter(page, "I have copied it");
  await visit.sees(page, "Weekly report", "tbody");
  await visit.sees(page, "Never", "tbody");
  assert.ok(!(await page.content()).includes(token), "a token is shown once");
  const ask = async () => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await visit.server.fetch(`/v1/goals?project=${DEMO}`, { headers })).status;
  };
  assert.equal(await ask(), 200);
  await press(page, "Revoke Weekly report");
  await visit.sees(page, "refused within a second", ".dialog");
  await press(page, "Revoke the token", ".dialog");
  await visit.sees(page, "There is no API token");
  assert.equal(await ask(), 401);
});

test("API tokens: nobody is offered to give what they have not", async (visit) => {
  const page = await section(visit, "tokens", await member(visit, { role: "viewer" }));
  await press(page, "Create a token");
  await page.waitForSelector(".dialog[open]");
  const offered = await visit.text(page, ".dialog-body");
  assert.ok(offered.includes("Read the figures"), offered);
  for (const absent of ["Save funnels", "Change projects", "Invite", "All projects"]) {
    assert.ok(!offered.includes(absent), absent);
  }
});

test("Audit: newest first, page by page, in words", async (visit) => {
  const who = await member(visit);
  const page = await section(visit, "audit");
  await visit.sees(page, "Invited", "tbody tr:first-child");
  await visit.sees(page, who.email, "tbody");
  for (let i = 0; i < 55; i++) {
    const { status } = await visit.server.admin("PATCH", `/v1/people/${who.id}`, { name: `N${i}` });
    assert.equal(status, 200);
  }
  await page.reload();
  await visit.settled(page);
  await visit.until(page, `document.querySelectorAll("tbody tr").length === 50`);
  await enter(page, "Show more");
  await visit.until(page, `document.querySelectorAll("tbody tr").length > 50`);
});
