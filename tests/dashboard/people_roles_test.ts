/** What each role finds in the dashboard: what is theirs, and nothing that they would be refused. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Json } from "../support/app.ts";
import { fill, press } from "./acts.ts";
import { member, openedBy } from "./members.ts";
import { dashboardWorld, DEMO, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();

async function savedFunnels(visit: Visit): Promise<Json[]> {
  return (await visit.read("funnels")).funnels;
}

async function buttonsOf(visit: Visit, page: Page): Promise<string> {
  return await visit.text(page, "main button");
}

test("roles: an editor saves a funnel that everybody finds, and sees no settings but their own", async (visit) => {
  const page = await openedBy(visit, await member(visit, { role: "editor" }), "view=funnels");
  await visit.settled(page);
  await press(page, "New funnel");
  await visit.sees(page, "Save funnel");
  await fill(page, "Step 1", "view_product");
  await press(page, "Save funnel");
  await page.waitForSelector("dialog[open]");
  await fill(page, "Name", "Seen by an editor");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Seen by an editor", ".funnels-saved");
  assert.ok((await savedFunnels(visit)).some(({ title }) => title === "Seen by an editor"));

  await page.locator("nav ::-p-text(Goals)").click();
  await visit.sees(page, "New goal");
  await page.locator("nav ::-p-text(Settings)").click();
  await visit.settled(page);
  const tabs = await visit.text(page, ".settings-nav");
  assert.equal(tabs.trim(), "Project Reports & alerts API tokens This account");
  assert.equal(await page.$(".settings-keys"), null);
  for (const word of ["Save", "Create a project", "Create a key", "Erase", "Rotate"]) {
    const buttons = await buttonsOf(visit, page);
    assert.ok(!buttons.includes(word), buttons);
  }
  // An address that an owner sent leads to what there is.
  for (const section of ["people", "sharing", "audit"]) {
    const sent = await visit.open(`view=settings&section=${section}`, { token: null });
    await sent.waitForSelector(".settings-install");
    await sent.close();
  }
});

test("roles: a viewer of one project sees that one, and nothing with which to change it", async (visit) => {
  const who = await member(visit, { role: "viewer", projects: [DEMO] });
  const before = (await savedFunnels(visit)).length;
  const page = await openedBy(visit, who, "view=funnels");
  await visit.settled(page);
  assert.equal(await page.$(".project-switch"), null);
  const changing = /Save|Rename|Delete|New goal|Edit|Create/;
  assert.doesNotMatch(await buttonsOf(visit, page), changing);
  for (const view of ["Goals", "Overview", "Settings"]) {
    await page.locator(`nav ::-p-text(${view})`).click();
    await visit.sees(page, view, "h1");
    await visit.settled(page);
    const buttons = await buttonsOf(visit, page);
    // One's own API tokens and account are one's own to change, in sections of their own.
    assert.doesNotMatch(buttons, changing, view);
    if (view === "Goals") await visit.sees(page, "Ask an owner for the role of an editor.", "main");
  }
  // The other project is not there, by whatever address; nor does the server take what the page hides.
  const token = await page.evaluate(`fetch("/v1/auth/token", { method: "POST" })
    .then((reply) => reply.json()).then(({ token }) => token)`);
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const asked = await visit.server.fetch(`/v1/kpis?project=${EMPTY}`, { headers });
  assert.equal(asked.status, 403);
  const body = JSON.stringify({ title: "Mine", steps: [{ name: "page_view" }] });
  const saved = await visit.server.fetch(`/v1/funnels/mine?project=${DEMO}`, {
    method: "PUT",
    headers,
    body,
  });
  assert.equal(saved.status, 403);
  assert.equal((await savedFunnels(visit)).length, before);
});

test("roles: a person of several projects changes between them, and sees no other", async (visit) => {
  await visit.server.project({ id: "prj_third", name: "The third" });
  const who = await member(visit, { role: "viewer", projects: [DEMO, "prj_third"] });
  const page = await openedBy(visit, who);
  await page.waitForSelector(".project-switch");
  const names = await visit.text(page, ".project-switch");
  assert.ok(names.includes("The third") && !names.includes("Nothing yet"), names);
  // Nor does the address of another show the first of them under its question.
  const other = await visit.open("view=trends", { token: null, project: EMPTY });
  await visit.sees(other, "You may not see the project of this address", "main");
  assert.equal(new URL(other.url()).searchParams.get("project"), EMPTY);
  await other.locator("main ::-p-text(All sites)").click();
  await other.waitForSelector(".sites-name");
});
