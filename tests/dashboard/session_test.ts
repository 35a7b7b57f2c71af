/** What becomes of what is shown, typed and sent as a session ends, and as somebody else begins one. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { enter, fill, focused, press, returnLater, tabTo } from "./acts.ts";
import { invited, type Member, member, openedBy, signIn } from "./members.ts";
import { dashboardWorld, DEMO, OWNER, PASSWORD, type Visit } from "./page.ts";

const test = dashboardWorld();
const ENDED = "If you cannot, ask an owner whether you still have an account.";

/** A page of a member who is typing a note. */
async function typingNote(visit: Visit, who: Member): Promise<Page> {
  const page = await openedBy(visit, who);
  await visit.settled(page);
  await press(page, "Note", ".chart-buttons");
  await fill(page, "What happened", `The window of ${who.name}`);
  return page;
}

/** Ends the sessions of who is there, as another program of theirs may. */
async function endSessions(page: Page): Promise<void> {
  const status = `fetch("/v1/auth/sessions", { method: "DELETE" }).then(({ status }) => status)`;
  assert.equal(await page.evaluate(status), 204);
}

async function endAndSend(page: Page): Promise<void> {
  await endSessions(page);
  await enter(page, "Add");
}

async function endAndLook(page: Page): Promise<void> {
  await endSessions(page);
  await returnLater(page);
}

/** What a page of a member shows once their session has ended as they were typing a note. */
async function endedAsTyped(
  visit: Visit,
  who: Member,
  end: (page: Page) => Promise<void>,
): Promise<Page> {
  const page = await typingNote(visit, who);
  await end(page);
  await visit.sees(page, `${ENDED} What you were typing is kept until then.`, ".banner");
  assert.equal(await page.evaluate(`document.querySelector(".shell").checkVisibility()`), false);
  // Escape does not lead past it.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await visit.sees(page, "Sign in", "h1");
  return page;
}

/** Waits until the chart has the note that was typed. */
async function noted(visit: Visit, page: Page, who: Member): Promise<void> {
  const marks = `[...document.querySelectorAll(".chart-note-button")]`;
  await visit.until(page, `${marks}.some(({ ariaLabel }) => ariaLabel.includes("${who.name}"))`);
}

/** The note of whoever was there before is neither shown nor stored, and the page is the next one's. */
async function tookOver(visit: Visit, page: Page, from: Member, next: Member): Promise<void> {
  await visit.sees(page, next.name, ".side-foot");
  await visit.until(page, `document.querySelector("dialog") === null`);
  await visit.settled(page);
  await visit.sees(page, "Overview", "h1");
  const { notes } = await visit.read("notes");
  assert.ok(!JSON.stringify(notes).includes(from.name));
}

test("session: what is typed in a dialog stays until its person is back", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const page = await endedAsTyped(visit, who, endAndLook);
  await tabTo(page, "Password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await visit.until(page, `document.querySelector(".sign-in") === null`);
  assert.equal(await focused(page), "What happened");
  assert.match(await page.title(), /^Overview/);
  await enter(page, "Add");
  await noted(visit, page, who);
});

test("session: what is sent as it ends is sent once its person is back", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const page = await endedAsTyped(visit, who, endAndSend);
  await signIn(page, who);
  await visit.until(page, `document.querySelector("dialog") === null`);
  await noted(visit, page, who);
});

test("session: going back does not lead away from what is typed behind the sign-in page", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const page = await endedAsTyped(visit, who, endAndLook);
  const address = page.url();
  await page.evaluate(`{
    history.pushState(null, "", "?view=goals&project=${DEMO}");
    history.pushState(null, "", ${JSON.stringify(address)});
  }`);
  await page.goBack();
  await visit.until(page, `location.href === ${JSON.stringify(address)}`);
  await signIn(page, who);
  await visit.until(page, `document.querySelector(".sign-in") === null`);
  assert.equal(await focused(page), "What happened");
});

test("session: what somebody typed is neither shown to who signs in after them, nor sent", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const next = await member(visit, { role: "editor" });
  const page = await endedAsTyped(visit, who, endAndSend);
  await signIn(page, next);
  await tookOver(visit, page, who, next);
});

test("session: a tab goes over to whom an invitation lets in in another tab", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const next = await invited(visit, { role: "editor" });
  const page = await typingNote(visit, who);
  const other = await visit.open("", { fragment: next.fragment });
  await visit.sees(other, "You are invited");
  await fill(other, "Password", PASSWORD);
  await other.keyboard.press("Enter");
  await other.waitForSelector(".shell");
  await page.bringToFront();
  await tookOver(visit, page, who, next);
});

test("session: what is refused is not sent again as somebody who came meanwhile", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const next = await member(visit, { role: "editor" });
  const page = await typingNote(visit, who);
  const body = JSON.stringify({ email: next.email, password: PASSWORD });
  const headers = `{ "Content-Type": "application/json" }`;
  const call = `{ method: "POST", headers: ${headers}, body: ${JSON.stringify(body)} }`;
  const signedIn = `fetch("/v1/auth/sign-in", ${call}).then(({ ok }) => ok)`;
  assert.ok(await page.evaluate(signedIn), "no tab hears of it");
  let sent = 0;
  visit.intercept = (request) => {
    if (request.method() !== "POST" || !request.url().includes("/v1/notes")) return undefined;
    return ++sent === 1 ? { status: 401, body: `{"code":"expired_token"}` } : undefined;
  };
  await enter(page, "Add");
  await tookOver(visit, page, who, next);
  assert.equal(sent, 1);
});

test("session: whoever signs out leaves nothing in any tab", async (visit) => {
  const who = await member(visit, { role: "editor" });
  const page = await typingNote(visit, who);
  await press(await visit.open("view=goals", { token: null }), "Sign out", ".side");
  await page.bringToFront();
  await visit.sees(page, "You signed out in another tab.", ".banner");
  assert.ok(!(await visit.text(page, ".banner")).includes("kept"));
  assert.equal(await page.$("dialog, .shell"), null);
});

test("session: a secret that is shown once goes with the session", async (visit) => {
  const page = await openedBy(visit, OWNER, "view=settings");
  await press(page, "Create a key");
  await press(page, "Secret", ".dialog");
  await press(page, "Create the key", ".dialog");
  await page.waitForSelector('[aria-label="The new key"]');
  const key = await page.$eval('[aria-label="The new key"]', (pre) => pre.textContent!);
  await endAndLook(page);
  await visit.sees(page, ENDED, ".banner");
  assert.ok(!(await page.content()).includes(key));
});

test("session: an outage is told above what is typed, and over when it is tried again", async (visit) => {
  visit.expectedFaults.push("503");
  const page = await endedAsTyped(visit, await member(visit, { role: "editor" }), endAndLook);
  visit.intercept = (request) =>
    request.url().endsWith("/v1/auth/token") ? { status: 503 } : undefined;
  await page.evaluate(`new BroadcastChannel("footfall-person").postMessage("somebody")`);
  await visit.sees(page, "One moment, please", ".sign-in-above h1");
  visit.intercept = () => undefined;
  await press(page, "Try again", ".sign-in-above");
  await visit.sees(page, "Sign in", ".sign-in-above h1");
});

test("session: a link that is opened after it ended finds nobody signed in", async (visit) => {
  const page = await endedAsTyped(visit, await member(visit, { role: "editor" }), endAndLook);
  const { fragment } = await invited(visit);
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  await visit.sees(page, "You are invited", "h1");
  assert.ok(!(await visit.text(page)).includes("You are signed in"));
});
