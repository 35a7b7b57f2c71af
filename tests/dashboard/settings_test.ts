import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { snippetOf } from "../../src/dashboard/views/settings_snippet.ts";
import { newEvent, type TestProject } from "../support/app.ts";
import { fill, focused, into, press, pressByKey } from "./acts.ts";
import { dashboardWorld, type Visit } from "./page.ts";

const test = dashboardWorld();

let projects = 0;

/** A project of the test's own: settings change it. */
async function ownProject(visit: Visit): Promise<TestProject> {
  projects++;
  return await visit.server.project({ id: `prj_own${projects}`, name: `Own ${projects}` });
}

async function opened(visit: Visit, project: TestProject, token?: string): Promise<Page> {
  const page = await visit.open("view=settings", { project: project.id, ...token && { token } });
  await page.waitForSelector(".settings-install");
  await visit.settled(page);
  return page;
}

async function stored(visit: Visit, { id }: TestProject) {
  return (await visit.server.admin("GET", `/v1/projects/${id}`)).body;
}

async function idOf(visit: Visit, { id }: TestProject, key: string): Promise<string> {
  const { body } = await visit.server.admin("GET", `/v1/projects/${id}/keys`);
  return body.keys.find((each: { key: string | null }) => each.key === key).id;
}

async function snippet(page: Page): Promise<string> {
  return await page.$eval(".settings-install pre", (pre) => pre.textContent!);
}

Deno.test("Snippets name this server and the key; the same event keeps its id", () => {
  const of = { server: "https://a.example/analytics", key: "pk_1", turn: "" };
  assert.equal(
    snippetOf("script", of),
    '<script defer src="https://a.example/analytics/sdk.js" data-api-key="pk_1"></script>',
  );
  assert.match(snippetOf("module", of), /from "https:\/\/a\.example\/analytics\/sdk\.mjs"/);
  const curl = snippetOf("curl", of);
  assert.match(
    curl,
    /"eventId":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"/,
  );
  assert.equal(snippetOf("curl", of), curl);
  assert.notEqual(snippetOf("curl", { ...of, turn: "next" }), curl);
});

test("The project is changed by keyboard alone, and only what was changed is sent", async (visit) => {
  const project = await ownProject(visit);
  const sent: unknown[] = [];
  visit.intercept = (request) => {
    if (request.method() === "PATCH") sent.push(JSON.parse(request.postData()!));
    return undefined;
  };
  const page = await opened(visit, project);
  await fill(page, "Name", "Tea shop");
  await fill(page, "Site URL", "https://tea.example");
  await into(page, "Allowed origins");
  await page.keyboard.type("https://tea.example");
  await page.keyboard.press("Enter");
  await page.keyboard.type("https://*.tea.example");
  await into(page, "Name");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Saved", ".settings-actions");
  const { name, siteUrl, allowedOrigins } = await stored(visit, project);
  assert.deepEqual({ name, siteUrl, allowedOrigins }, {
    name: "Tea shop",
    siteUrl: "https://tea.example",
    allowedOrigins: ["https://tea.example", "https://*.tea.example"],
  });
  assert.deepEqual(Object.keys(sent[0] as object).sort(), ["allowedOrigins", "name", "siteUrl"]);
  await visit.until(
    page,
    `[...document.querySelectorAll(".project-switch option")].some((option) =>
      option.textContent === "Tea shop")`,
  );
});

test("What is refused is told at its field", async (visit) => {
  const project = await ownProject(visit);
  visit.expectedFaults.push("400");
  const page = await opened(visit, project);
  await fill(page, "Time zone", "Middle/Earth");
  await into(page, "Allowed origins");
  await page.keyboard.type("not an origin");
  await press(page, "Save changes");
  await visit.sees(page, "Give an IANA time zone", ".settings-form");
  await visit.sees(page, "Give an origin such as", ".settings-form");
  assert.equal(await page.$$eval(".settings-form [role=alert]", ({ length }) => length), 2);
  const isMarked = await page.evaluate(`document.querySelector("textarea").ariaInvalid`);
  assert.equal(isMarked, "true");
});

test("A shorter retention asks before it deletes", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await fill(page, "Keep events for (days)", "30");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Events older than 30 days will be deleted for good", ".dialog");
  await page.keyboard.press("Escape");
  assert.equal((await stored(visit, project)).retentionDays, null);
  await press(page, "Save changes");
  await press(page, "Save and delete them", ".dialog");
  await visit.sees(page, "Saved", ".settings-actions");
  assert.equal((await stored(visit, project)).retentionDays, 30);
});

test("A public key is made by keyboard, stands in the snippet from then on, and works", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await page.focus(".settings-keys .panel-actions .button");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".dialog[open] form");
  await fill(page, "Label", "Web shop");
  await page.keyboard.press("Enter");
  const key = await page.waitForSelector('[aria-label="The new key"]').then((shown) =>
    shown!.evaluate((pre) => pre.textContent!)
  );
  assert.match(key, /^pk_/);
  await press(page, "Done", ".dialog");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  const tag = `<script defer src="${visit.world.url}/sdk.js" data-api-key="${key}"></script>`;
  await visit.sees(page, tag, ".settings-install pre");
  const { status } = await visit.server.post(project, [newEvent()], { key });
  assert.equal(status, 200);
  await visit.sees(page, `Web shop ${key}`, "tbody");
  // Tomorrow too.
  await page.reload();
  await visit.settled(page);
  await page.select(".settings-key-choice select", await idOf(visit, project, key));
  await visit.sees(page, tag, ".settings-install pre");
});

test("A secret key is shown once, and never offered for a page", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await press(page, "Create a key");
  await page.waitForSelector(".dialog[open] form");
  await press(page, "Secret", ".dialog");
  await press(page, "Create the key", ".dialog");
  await visit.sees(page, "never shown again", ".dialog");
  const key = await page.$eval('[aria-label="The new key"]', (pre) => pre.textContent!);
  assert.match(key, /^sk_/);
  await press(page, "I have copied it", ".dialog");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  await visit.sees(page, `Unnamed …${key.slice(-4)}`, "tbody");
  assert.ok(!(await page.content()).includes(key), "a secret key is shown once");
  assert.ok((await snippet(page)).includes(project.publicKey));
});

test("A public key of before they were kept is pasted; nothing shortened can be copied", async (visit) => {
  const project = await ownProject(visit);
  visit.intercept = (request) =>
    !new URL(request.url()).pathname.endsWith("/keys") ? undefined : {
      status: 200,
      body: JSON.stringify({
        keys: [{
          id: "key_old",
          kind: "public",
          label: null,
          hint: project.publicKey.slice(-4),
          key: null,
          createdAt: "2026-01-01T00:00:00Z",
          expiresAt: null,
          revokedAt: null,
          status: "active",
        }],
      }),
    };
  const page = await opened(visit, project);
  await visit.sees(page, `data-api-key="pk_…"`, ".settings-install pre");
  const copies = `document.querySelectorAll(".settings-install .settings-copy").length`;
  assert.equal(await page.evaluate(copies), 0);
  await fill(page, "Paste your key", project.publicKey);
  await visit.sees(page, `"${project.publicKey}"`, ".settings-install pre");
  assert.equal(await page.evaluate(copies), 1);
  await fill(page, "Paste your key", project.secretKey);
  await visit.sees(page, "This is a secret key", ".settings-install");
  await fill(page, "Paste your key", "pk_of_another_project");
  await visit.sees(page, "No public key of this project", ".settings-install");
});

test("Keys are rotated with an overlap, the new one is in the snippet, and revoked", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await press(page, "Rotate");
  await page.waitForSelector(".dialog[open] select");
  await page.select(".dialog select", "0");
  await press(page, "Make the new key", ".dialog");
  const created = await page.waitForSelector('[aria-label="The new key"]').then((shown) =>
    shown!.evaluate((pre) => pre.textContent!)
  );
  await press(page, "Done", ".dialog");
  await visit.sees(page, `data-api-key="${created}"`, ".settings-install pre");
  const statusOf = async (key: string) =>
    (await visit.server.post(project, [newEvent()], { key })).status;
  assert.deepEqual([await statusOf(project.publicKey), await statusOf(created)], [403, 200]);
  await visit.sees(page, "Show revoked and expired ones (1)");
  await press(page, `Revoke Unnamed (…${created.slice(-4)})`);
  await visit.sees(page, "cannot be brought back", ".dialog");
  await press(page, "Revoke the key", ".dialog");
  await visit.sees(page, "Show revoked and expired ones (2)");
  assert.equal(await statusOf(created), 403);
  await press(page, "Show revoked");
  await visit.sees(page, "Revoked", "tbody");
});

test("The focus goes on beside a row that was taken away, and to the title behind the last one", async (visit) => {
  const project = await ownProject(visit);
  const kind = "public";
  for (const label of ["B", "C"]) {
    await visit.server.admin("POST", `/v1/projects/${project.id}/keys`, { kind, label });
  }
  const page = await opened(visit, project);
  const names: string[] = await page.$$eval(
    "[aria-label^=Revoke]",
    (all) => all.map((each) => each.getAttribute("aria-label")!),
  );
  assert.equal(names.length, 4);
  const [first, second, third, last] = names as [string, string, string, string];
  for (const [gone, next] of [[second, third], [last, third], [first, third], [third, "Keys"]]) {
    await pressByKey(page, gone!, ".settings-keys");
    await page.waitForSelector(".dialog[open]");
    await pressByKey(page, "Revoke the key", ".dialog");
    await visit.until(
      page,
      `![...document.querySelectorAll("[aria-label^=Revoke]")]
      .some((each) => each.ariaLabel === ${JSON.stringify(gone)})`,
    );
    assert.equal(await focused(page), next);
  }
});

test("An empty project waits for its first event and tells of it", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await visit.sees(page, "Waiting for your first event…", ".settings-test");
  await visit.server.post(project, [newEvent({ name: "hello", path: "/welcome" })]);
  await visit.sees(page, "We have received your first event", ".settings-test");
  await visit.sees(page, "hello on /welcome,", ".settings-test");
  await press(page, "Test it again");
  await visit.sees(page, "Waiting for the next event…", ".settings-test");
  await visit.server.post(project, [newEvent({ name: "again", path: "/next" })]);
  await visit.sees(page, "We have received an event again on /next", ".settings-test");
  await page.click(".settings-test a");
  await visit.sees(page, "again", ".events-table");
});

test("A project with events waits only when asked, and stops when asked", async (visit) => {
  const project = await ownProject(visit);
  await visit.server.post(project, [newEvent()]);
  const page = await opened(visit, project);
  await visit.sees(page, "Press “Test it”", ".settings-test");
  await press(page, "Test it");
  await visit.sees(page, "Waiting for the next event…", ".settings-test");
  await press(page, "Stop waiting");
  await visit.sees(page, "Press “Test it”", ".settings-test");
});

test("A person is looked up and erased after a question", async (visit) => {
  const project = await ownProject(visit);
  visit.expectedFaults.push("404");
  const events = ["a", "b"].map((name) => newEvent({ name, userId: "ada/lovelace" }));
  await visit.server.post(project, [...events, newEvent({ userId: "other" })]);
  const page = await opened(visit, project);
  await fill(page, "User id, anonymous id or visitor hash", "nobody");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Nothing is stored of anyone by this id");
  await fill(page, "User id, anonymous id or visitor hash", "ada/lovelace");
  await page.keyboard.press("Enter");
  await visit.sees(page, "2 events, 1 visit", ".settings-found");
  await visit.sees(page, "What is stored of this person", "form [role=status]");
  // Once another id stands there, whoever was found is not who would be erased.
  await fill(page, "User id, anonymous id or visitor hash", "other");
  assert.equal(await page.$(".settings-found"), null);
  await fill(page, "User id, anonymous id or visitor hash", "ada/lovelace");
  await press(page, "Erase this person");
  await visit.sees(page, "Erase ada/lovelace?", ".dialog");
  await visit.sees(page, "it cannot be undone", "dialog[aria-describedby$=-text] [id$=-text]");
  assert.equal((await visit.server.stored(project)).length, 3);
  await press(page, "Erase for good", ".dialog");
  await visit.sees(page, "Erased: 2 events");
  assert.equal(await focused(page), "Data requests (GDPR)");
  assert.deepEqual((await visit.server.stored(project)).map(({ userId }) => userId), ["other"]);
});

test("A project is created and shown at once", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await press(page, "Create a project");
  await page.waitForSelector(".dialog[open] #new-project");
  // The dialog's own field, not that of the page behind it.
  await page.$eval("#new-project input", (field) => (field as unknown as HTMLElement).focus());
  await page.keyboard.type("Created here");
  await page.keyboard.press("Enter");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  await visit.sees(page, "The project has no public key that works");
  const id = new URLSearchParams(await page.evaluate("location.search") as string).get("project")!;
  assert.notEqual(id, project.id);
  const { body } = await visit.server.admin("GET", `/v1/projects/${id}`);
  assert.equal(body.name, "Created here");
});

test("Without the scope admin: the settings can be read, and why not changed", async (visit) => {
  const project = await ownProject(visit);
  const asked: string[] = [];
  visit.intercept = (request) => {
    asked.push(new URL(request.url()).pathname);
    return undefined;
  };
  const page = await opened(visit, project, await visit.token("read", [project.id]));
  await visit.sees(page, "For that it needs the scope admin");
  const seen = await visit.text(page, "main");
  for (const absent of ["Create a key", "Create a project", "Look up", "Save changes"]) {
    assert.ok(!seen.includes(absent), absent);
  }
  await fill(page, "Paste your key", project.publicKey);
  await visit.sees(page, project.publicKey, ".settings-install pre");
  assert.ok(!asked.some((path) => path.startsWith("/v1/projects")), asked.join());
});

test("An admin of one project is not offered to create others", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project, await visit.token("read admin", [project.id]));
  await visit.sees(page, "Save changes");
  assert.ok(!(await visit.text(page, "main")).includes("Create a project"));
});

test("Theme, expiry and sign-out", async (visit) => {
  visit.expectedFaults.push("401");
  const project = await ownProject(visit);
  const page = await visit.open("view=settings&section=browser", { project: project.id });
  await visit.sees(page, "Opened with a token for tester Until");
  await press(page, "Dark", ".settings-actions");
  await visit.until(page, `document.documentElement.dataset.theme === "dark"`);
  await press(page, "Sign out", ".settings-actions");
  await visit.sees(page, "Sign in", "h1");
  assert.equal(await page.evaluate("sessionStorage.length"), 0);
});

test("An error of the keys leaves the project's form", async (visit) => {
  const project = await ownProject(visit);
  visit.expectedFaults.push("503");
  const problem = { status: 503, code: "database_unavailable", detail: "The database is away." };
  visit.intercept = (request) =>
    new URL(request.url()).pathname.endsWith("/keys")
      ? { status: 503, contentType: "application/problem+json", body: JSON.stringify(problem) }
      : undefined;
  const page = await opened(visit, project);
  await visit.sees(page, "The database is away.", ".note-error");
  await visit.sees(page, "Save changes");
  visit.intercept = () => undefined;
  await visit.sees(page, "Unnamed …", "tbody");
});

test("settings: whole addresses are told of, and shortened in one click", async (visit) => {
  const project = await ownProject(visit);
  const page = await opened(visit, project);
  await visit.sees(page, "whole IP addresses are stored beside the visitor hash");
  await fill(page, "Name", "Not saved yet");
  await press(page, "Store shortened addresses from now on");
  await visit.sees(page, "Saved");
  assert.equal((await stored(visit, project)).ipStorage, "truncated");
  await visit.until(page, `document.querySelector(".settings-privacy") === null`);
  // What was edited beside it is neither saved nor lost.
  assert.notEqual((await stored(visit, project)).name, "Not saved yet");
  await press(page, "Save changes");
  const saved = `[...document.querySelectorAll(".settings-actions button")].some((each) =>
    each.textContent === "Save changes" && each.disabled)`;
  await visit.until(page, saved);
  assert.equal((await stored(visit, project)).name, "Not saved yet");
});

test("the shell: little space on the disk is told of on every view, plenty is not", async (visit) => {
  let status = "low";
  let looks = 0;
  visit.intercept = (request) => {
    if (!request.url().endsWith("/readyz")) return undefined;
    looks++;
    const message = "The disk of the database is nearly full: free some space.";
    const disk = { ok: true, status, message, freeBytes: 200 * 2 ** 20, totalBytes: 2 ** 33 };
    return { status: 200, body: JSON.stringify({ status: "ready", checks: { disk } }) };
  };
  const page = await visit.open("view=settings");
  await visit.sees(page, "nearly full: free some space. 200 MB are left.", ".banner");
  status = "ok";
  const before = looks;
  await page.reload({ waitUntil: "load" });
  await visit.sees(page, "Sign out");
  // Not until the network rests: what a page that is left had under way is never told to be over.
  while (looks === before) await page.evaluate("new Promise((go) => setTimeout(go, 50))");
  await page.evaluate("new Promise((go) => setTimeout(go, 300))");
  assert.equal(await page.$(".main > .banner"), null);
});
