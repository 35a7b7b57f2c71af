/** Signing in at a real identity provider, in a process of its own, as people do it: in a browser. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { type RunningProvider, startProvider } from "../auth/oidc/provider.ts";
import { CLIENT_ID, CLIENT_SECRET } from "../auth/oidc/provider_process.ts";
import type { Json } from "../support/app.ts";
import { fill, focused, press, returnLater } from "./acts.ts";
import { fragmentOf } from "./members.ts";
import { dashboardWorld, PASSWORD, type Visit } from "./page.ts";
import { follow, isFont, signInThere } from "./provider_page.ts";

const PROVIDER = "Example ID";
const PROJECT = "prj_default";

let provider: RunningProvider;
let redirectUri = "";

async function startWith(roles: Record<string, string[]> = {}, port = 0): Promise<void> {
  const order = { port, redirectUri, keyId: crypto.randomUUID(), roles };
  provider = await startProvider(order);
}

/** The provider is another program at its own address, which our server believes as it did before. */
async function restartWith(roles: Record<string, string[]>): Promise<void> {
  const { port } = new URL(provider.issuer);
  await provider.stop();
  await startWith(roles, Number(port));
}

const test = dashboardWorld({
  isFilled: false,
  env: async (url) => {
    redirectUri = `${url}/v1/auth/oidc/callback`;
    await startWith();
    return {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_NAME: PROVIDER,
      OIDC_ALLOWED_DOMAINS: "shop.example",
      OIDC_ROLE_CLAIM: "roles",
    };
  },
});
Deno.test.afterAll(() => provider.stop());

/** What the provider's page would fetch from elsewhere is not there. */
function withoutFonts(visit: Visit): void {
  // It has no icon.
  visit.expectedFaults.push(provider.issuer, "fonts.googleapis.com", "401", "404");
  visit.intercept = (request) =>
    isFont(request) ? { status: 200, contentType: "text/css", body: "" } : undefined;
}

/** A new browser, on the page where one signs in by the provider. */
async function atSignIn(visit: Visit, query = ""): Promise<Page> {
  withoutFonts(visit);
  const page = await visit.open(query, { token: null, project: PROJECT });
  await follow(page, `Continue with ${PROVIDER}`);
  return page;
}

async function personOf(visit: Visit, email: string): Promise<Json | undefined> {
  const { people } = (await visit.server.admin("GET", "/v1/people")).body;
  return people.find((one: Json) => one["email"] === email);
}

test("oidc: the set-up link of the first start makes its owner at the provider", async (visit) => {
  withoutFonts(visit);
  const secret = await visit.server.app.makeSetUpLink();
  const page = await visit.open("", { fragment: `setup=${secret}` });
  await visit.sees(page, "Make your account", "h1");
  await follow(page, `Continue with ${PROVIDER}`);
  await signInThere(page, "olive", visit.world.url);
  await visit.sees(page, "Olive", ".side-foot");
  const owner = await personOf(visit, "olive@shop.example");
  assert.deepEqual([owner?.["role"], owner?.["projects"]], ["owner", ["*"]]);
  // It has done its work, and a browser that comes back tomorrow is in.
  const again = await visit.open("", { fragment: `setup=${secret}` });
  await visit.sees(again, "This link has done its work");
  await page.reload();
  await visit.sees(page, "Olive", ".side-foot");
});

test("oidc: who was invited comes by the provider, under any address, as whom they were invited", async (visit) => {
  withoutFonts(visit);
  const wanted = { email: "grace@elsewhere.example", role: "editor", projects: [PROJECT] };
  const { body } = await visit.server.admin("POST", "/v1/people", wanted);
  const page = await visit.open("", { fragment: fragmentOf(body.invitation.url) });
  await visit.sees(page, "You are invited as an editor");
  await follow(page, `Continue with ${PROVIDER}`);
  await signInThere(page, "grace@work.example", visit.world.url);
  await page.waitForSelector(".shell");
  const grace = await personOf(visit, wanted.email);
  assert.deepEqual([grace?.["role"], grace?.["joinedAt"] === null], ["editor", false]);
  assert.equal(await personOf(visit, "grace@work.example"), undefined);
});

test("oidc: who has an account here is who they are, and opens the view that they came for", async (visit) => {
  const known = { email: "ada@shop.example", name: "Ada of the shop", role: "editor" };
  const body = { ...known, projects: [PROJECT], password: PASSWORD };
  assert.equal((await visit.server.admin("POST", "/v1/people", body)).status, 201);
  const page = await atSignIn(visit, "view=goals");
  await signInThere(page, "ada", visit.world.url);
  await visit.sees(page, "Goals", "h1");
  await visit.sees(page, known.name, ".side-foot");
  assert.equal((await personOf(visit, known.email))?.["role"], "editor");
});

test("oidc: an address of an allowed domain makes a viewer, and of another one nobody", async (visit) => {
  const page = await atSignIn(visit);
  await signInThere(page, "victor", visit.world.url);
  await visit.sees(page, "Victor", ".side-foot");
  assert.equal((await personOf(visit, "victor@shop.example"))?.["role"], "viewer");
  const { rows } = (await visit.server.admin("GET", "/v1/audit?limit=1")).body;
  assert.deepEqual(
    [rows[0].who, rows[0].what, rows[0].subject],
    ["victor@shop.example", "person.join", "victor@shop.example"],
  );
});

test("oidc: who is of another domain is told so in the page, and nobody is signed in", async (visit) => {
  const page = await atSignIn(visit);
  await signInThere(page, "eve@elsewhere.example", visit.world.url);
  await visit.sees(page, "nobody has invited you here", ".banner");
  await visit.sees(page, "Sign in", "h1");
  assert.equal(await personOf(visit, "eve@elsewhere.example"), undefined);
});

test("oidc: the role follows the provider's claim with the next sign-in", async (visit) => {
  const page = await atSignIn(visit);
  await signInThere(page, "rose", visit.world.url);
  await visit.sees(page, "Rose", ".side-foot");
  assert.equal((await personOf(visit, "rose@shop.example"))?.["role"], "viewer");
  await press(page, "Sign out", ".side");
  await visit.sees(page, "Sign in", "h1");

  await restartWith({ rose: ["staff", "admin"] });
  await follow(page, `Continue with ${PROVIDER}`);
  await signInThere(page, "rose", visit.world.url);
  await visit.sees(page, "Rose", ".side-foot");
  await page.locator("nav ::-p-text(Settings)").click();
  await page.waitForSelector(".settings-keys");
  assert.equal((await personOf(visit, "rose@shop.example"))?.["role"], "admin");
  const { rows } = (await visit.server.admin("GET", "/v1/audit?limit=1")).body;
  assert.deepEqual(
    [rows[0].who, rows[0].what, rows[0].subject],
    ["the identity provider", "person.role", "rose@shop.example: admin"],
  );
});

test("oidc: a provider that is down is told in the page, and the password opens it all the same", async (visit) => {
  const known = { email: "dora@shop.example", role: "viewer", projects: [PROJECT] };
  await visit.server.admin("POST", "/v1/people", { ...known, password: PASSWORD });
  // On its page, when it goes down: the answer can no longer be redeemed.
  const page = await atSignIn(visit, "view=goals");
  await page.waitForSelector("input[name=login]");
  const { port } = new URL(provider.issuer);
  await provider.stop();
  // What it said of itself is believed for an hour; after that it is asked again.
  visit.world.clock.offsetMs = 3_600_001;
  try {
    const late = await visit.open("view=goals", { token: null, project: PROJECT });
    await follow(late, `Continue with ${PROVIDER}`);
    await visit.sees(late, "Your identity provider cannot be used now", ".banner");
    assert.equal(new URL(late.url()).searchParams.get("view"), "goals");
    await fill(late, "E-mail", known.email);
    await fill(late, "Password", PASSWORD);
    await late.keyboard.press("Enter");
    await visit.sees(late, "Goals", "h1");
  } finally {
    visit.world.clock.offsetMs = 0;
    await startWith({}, Number(port));
  }
});

test("oidc: what is typed stays while its person signs in again at the provider, in a new tab", async (visit) => {
  const who = { email: "nora@shop.example", role: "editor", projects: [PROJECT] };
  await visit.server.admin("POST", "/v1/people", { ...who, password: PASSWORD });
  const page = await atSignIn(visit, "view=goals");
  await signInThere(page, "nora", visit.world.url);
  await press(page, "New goal");
  await fill(page, "Title", "Letters");
  await page.evaluate(`fetch("/v1/auth/sessions", { method: "DELETE" })`);
  await returnLater(page);
  await visit.sees(page, "What you were typing is kept until then.", ".banner");
  const link = await page.waitForSelector(".sign-in-above a[target=_blank]");
  const address = await link!.evaluate((each) => (each as unknown as { href: string }).href);
  // The provider knows them still.
  await visit.sees(await visit.openAt(address), "Goals", "h1");
  await page.bringToFront();
  await visit.until(page, `document.querySelector(".sign-in-above") === null`);
  assert.equal(await focused(page), "Title");
  assert.equal(await page.evaluate("document.activeElement.value"), "Letters");
});
