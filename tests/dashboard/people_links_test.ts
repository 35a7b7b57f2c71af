import assert from "node:assert/strict";
import { enter, focused, tabTo, typeInto } from "./acts.ts";
import { fragmentOf, invited, member, openedBy, signIn } from "./members.ts";
import { dashboardWorld, DEMO, OWNER, PASSWORD } from "./page.ts";

const test = dashboardWorld();
const NEXT = "seven lamps by the harbour";

test("links: who was invited chooses a password by keyboard, and sees their project", async (visit) => {
  visit.expectedFaults.push("401");
  const who = await invited(visit, { role: "viewer", projects: [DEMO] });
  const page = await visit.open("", { fragment: who.fragment });
  await visit.sees(page, "You are invited as a viewer");
  const email = `document.querySelector("input[type=email]").value`;
  assert.equal(await page.evaluate(email), who.email);
  await visit.until(page, `document.activeElement.autocomplete === "new-password"`);
  assert.equal(await focused(page), "Password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await visit.sees(page, "Overview", "h1");
  assert.ok(!page.url().includes("#"), "the secret leaves the address");
  await visit.sees(page, who.name, ".side-foot");
  // One project, which they cannot change: nothing of that is offered.
  assert.equal(await page.$(".project-switch"), null);
  await page.locator("nav ::-p-text(Settings)").click();
  await visit.settled(page);
  const tabs = await visit.text(page, ".settings-nav");
  assert.equal(tabs.trim(), "Project API tokens This account");
  assert.equal(await page.$(".settings-keys"), null);
});

test("links: a page that is reloaded before the password is typed goes on", async (visit) => {
  visit.expectedFaults.push("401");
  const who = await invited(visit);
  const page = await visit.open("", { fragment: who.fragment, widthPx: 390, heightPx: 844 });
  await visit.sees(page, "You are invited");
  await page.reload();
  await typeInto(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".shell");
});

test("links: a password that is too short or too common is told at its field", async (visit) => {
  visit.expectedFaults.push("401", "400");
  const who = await invited(visit);
  const page = await visit.open("", { fragment: who.fragment });
  await typeInto(page, "Password", "short");
  await page.keyboard.press("Enter");
  await page.waitForSelector("input[aria-invalid=true]");
  await visit.sees(page, "10", ".sign-in-card form .field-error");
  await tabTo(page, "Password");
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".shell");
});

test("links: used, forged and replaced ones open nothing, and say what to do", async (visit) => {
  visit.expectedFaults.push("401", "403");
  const who = await invited(visit);
  const forged = await visit.open("", { fragment: "invitation=abc" });
  await visit.sees(forged, "This link is not whole, or was never given out.");
  assert.equal(await forged.$("form"), null);
  const { body } = await visit.server.admin("POST", `/v1/people/${who.id}/invitation`);
  const replaced = await visit.open("", { fragment: who.fragment });
  await visit.sees(replaced, "a newer one took its place");
  const fragment = fragmentOf(body.invitation.url);
  const page = await visit.open("", { fragment });
  await typeInto(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".shell");
  const used = await visit.open("", { fragment });
  await visit.sees(used, "This link has been used, and works once. Sign in instead.");
  // They are signed in by now, and stay so.
  await visit.sees(used, `You are signed in as ${who.email}. This link`);
  await enter(used, "Open the dashboard");
  await used.waitForSelector(".shell");
});

test("links: a new password signs out everywhere else, and in here", async (visit) => {
  const who = await member(visit);
  const page = await openedBy(visit, who);
  await visit.settled(page);
  const { body } = await visit.server.admin("POST", `/v1/people/${who.id}/invitation`);
  const context = await visit.context.browser().createBrowserContext();
  try {
    const other = await context.newPage();
    await other.goto(`${visit.world.url}/#${fragmentOf(body.invitation.url)}`);
    await visit.sees(other, "Choose a new password", "h1");
    await typeInto(other, "New password", NEXT);
    await other.keyboard.press("Enter");
    await other.waitForSelector(".shell");
  } finally {
    await context.close();
  }
  await page.locator("nav ::-p-text(Goals)").click();
  await visit.sees(page, "Your session has ended.");
  await signIn(page, who, NEXT);
  await visit.sees(page, "Goals", "h1");
});

test("links: an invitation that is opened by somebody else says whom they are", async (visit) => {
  const who = await invited(visit);
  await openedBy(visit, OWNER);
  const page = await visit.open("", { fragment: who.fragment });
  await visit.sees(page, `You are signed in as ${OWNER.email}.`);
});

test("links: the owner's link does nothing once there is an owner", async (visit) => {
  visit.expectedFaults.push("401");
  const page = await visit.open("", { fragment: "setup=abc" });
  await visit.sees(page, "This link has done its work: the server has an owner.");
  await visit.sees(page, "This link is over", "h1");
  assert.equal(await page.$("form"), null);
  await enter(page, "Go to the sign-in page");
  await visit.sees(page, "Sign in", "h1");
});

test("links: what the identity provider refused is told in a sentence", async (visit) => {
  visit.expectedFaults.push("401");
  for (
    const [reason, sentence] of [
      ["unavailable", "Your identity provider cannot be used now"],
      ["refused", "Your identity provider let nobody in"],
      ["expired", "This took too long"],
      ["link_over", "The link that you came by has expired or has been used."],
      ["too_many", "Too many sign-ins from your network have failed."],
      ["no_email", "does not say your e-mail address"],
      ["unverified", "has not verified your e-mail address"],
      ["uninvited", "nobody has invited you here"],
      ["address_taken", "by another account of your identity provider"],
      ["something_new", "You were not let in (something_new)."],
    ] as const
  ) {
    const page = await visit.open("view=goals", { fragment: `provider=${reason}` });
    await visit.sees(page, sentence, ".banner");
    assert.ok(!page.url().includes("#"), page.url());
    await page.close();
  }
});

test("links: ways to sign in stand where the server offers them, and lead back here", async (visit) => {
  visit.expectedFaults.push("401");
  visit.intercept = (request) =>
    new URL(request.url()).pathname !== "/v1/auth" ? undefined : {
      status: 200,
      body: JSON.stringify({
        ownerExists: true,
        password: true,
        passkeys: false,
        oidc: { name: "Example ID" },
      }),
    };
  const page = await visit.open("view=goals", { token: null });
  await tabTo(page, "Continue with Example ID");
  const href = await page.$eval("a.button", (link) => (link as unknown as { href: string }).href);
  const { pathname, searchParams } = new URL(href);
  assert.equal(pathname, "/v1/auth/oidc/start");
  assert.equal(searchParams.get("returnTo"), `/?view=goals&project=${DEMO}`);
  assert.ok(!(await visit.text(page)).includes("passkey"));
  const who = await invited(visit);
  const joining = await visit.open("", { fragment: who.fragment });
  await tabTo(joining, "Continue with Example ID");
  const via = await joining.$eval("a.button", (link) => (link as unknown as { href: string }).href);
  assert.equal(`invitation=${new URL(via).searchParams.get("invitation")}`, who.fragment);
});
