/** Two people change the same thing: a page whose list is of before sends what was changed in it, and no more. */
import assert from "node:assert/strict";
import { fill, press } from "./acts.ts";
import { member, openedBy } from "./members.ts";
import { dashboardWorld, DEMO, type Visit } from "./page.ts";

const test = dashboardWorld();
const SHARES = `/v1/projects/${DEMO}/shares`;

async function admin(visit: Visit, method: string, path: string, body?: unknown) {
  const reply = await visit.server.admin(method, path, body as Record<string, unknown>);
  assert.ok(reply.status < 300, JSON.stringify(reply.body));
  return reply.body;
}

test("stale: a share that is renamed keeps the password that it got meanwhile", async (visit) => {
  const views = ["overview"];
  const { id } = await admin(visit, "POST", SHARES, { title: "For all", views });
  const page = await visit.open("view=settings&section=sharing");
  await visit.sees(page, "For all", "tbody");
  const password = "open sesame";
  await admin(visit, "PATCH", `${SHARES}/${id}`, { password, views: ["overview", "goals"] });
  await press(page, "Change For all");
  await fill(page, "Title", "For investors");
  await press(page, "Save", "dialog");
  await visit.sees(page, "For investors", "tbody");
  const { shares } = await admin(visit, "GET", SHARES);
  const [{ hasPassword, views: shown }] = shares;
  assert.deepEqual([hasPassword, shown], [true, ["overview", "goals"]]);
});

test("stale: a person who is renamed keeps the role and the projects of meanwhile", async (visit) => {
  const owner = await member(visit, { role: "owner" });
  const who = await member(visit, { role: "admin", projects: ["*"] });
  const page = await openedBy(visit, owner, "view=settings&section=people");
  await visit.sees(page, who.email, "tbody");
  await admin(visit, "PATCH", `/v1/people/${who.id}`, { role: "viewer", projects: [DEMO] });
  await press(page, `Change ${who.name}`);
  await fill(page, "Name", "Another Name");
  await press(page, "Save changes", "dialog");
  await visit.sees(page, "Another Name", "tbody");
  const { people } = await admin(visit, "GET", "/v1/people");
  const found = people.find(({ id }: { id: string }) => id === who.id);
  assert.deepEqual([found.role, found.projects], ["viewer", [DEMO]]);
});

test("stale: a role that is chosen is of the projects that the form shows", async (visit) => {
  const owner = await member(visit, { role: "owner" });
  const who = await member(visit, { role: "viewer", projects: [DEMO] });
  const page = await openedBy(visit, owner, "view=settings&section=people");
  await visit.sees(page, who.email, "tbody");
  await admin(visit, "PATCH", `/v1/people/${who.id}`, { role: "viewer", projects: ["*"] });
  await press(page, `Change ${who.name}`);
  await page.evaluate(
    `[...document.querySelectorAll(".role")].find((each) => each.innerText.includes("Editor")).click()`,
  );
  await press(page, "Save changes", "dialog");
  await visit.until(page, `document.querySelector("dialog") === null`);
  const { people } = await admin(visit, "GET", "/v1/people");
  const found = people.find(({ id }: { id: string }) => id === who.id);
  assert.deepEqual([found.role, found.projects], ["editor", [DEMO]]);
});

test("stale: a note that is moved keeps the text of meanwhile", async (visit) => {
  const at = new Date().toISOString().slice(0, 10);
  const { id } = await admin(visit, "POST", `/v1/notes?project=${DEMO}`, { at, text: "Before" });
  const page = await visit.open("view=overview");
  await page.waitForSelector(".chart-note-button");
  await admin(visit, "PATCH", `/v1/notes/${id}?project=${DEMO}`, { text: "Meanwhile" });
  await press(page, "Note of");
  await press(page, "Change", "dialog");
  await fill(page, "Time", "10:30");
  await press(page, "Save", "dialog");
  await visit.until(
    page,
    `document.querySelector(".chart-note-button").ariaLabel.endsWith("Meanwhile")`,
  );
  const { notes } = await visit.read("notes");
  assert.deepEqual([notes[0].text, notes[0].at.length], ["Meanwhile", 24]);
});

test("stale: what somebody else has deleted can be deleted, and is off the list then", async (visit) => {
  visit.expectedFaults.push("404");
  const title = "Soon over";
  const { id } = await admin(visit, "POST", SHARES, { title, views: ["overview"] });
  const page = await visit.open("view=settings&section=sharing");
  await visit.sees(page, title, "tbody");
  await admin(visit, "DELETE", `${SHARES}/${id}`);
  await press(page, `Revoke ${title}`);
  await press(page, "Revoke the link", "dialog");
  await visit.until(page, `document.querySelector("dialog") === null`);
  await visit.settled(page);
  assert.ok(!(await visit.text(page, "main")).includes(title));
});
