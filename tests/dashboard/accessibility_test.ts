import assert from "node:assert/strict";
import { AxePuppeteer } from "@axe-core/puppeteer";
import type { Page } from "puppeteer-core";
import { press } from "./acts.ts";
import { invited, openedBy } from "./members.ts";
import { dashboardWorld, FUNNEL, OWNER, type Visit } from "./page.ts";

const test = dashboardWorld();
const VIEWS = [
  "overview",
  "insights",
  "trends",
  "funnels",
  "retention",
  "goals",
  "heatmaps",
  "vitals",
  "events",
  "settings",
];
/** A view as it is worth looking at. */
const QUERY: Readonly<Record<string, string>> = { funnels: `&funnel=${FUNNEL.slug}` };
const SIZES = [{ widthPx: 1440, heightPx: 900 }, { widthPx: 390, heightPx: 844 }];

/** What axe finds, but for what it calls minor or moderate. */
async function seriousFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxePuppeteer(page as never).analyze();
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) =>
        `${id} ${target.join(" ")}: ${failureSummary?.replace(/\s+/g, " ")}`
      )
    );
}

for (const scheme of ["light", "dark"] as const) {
  for (const view of VIEWS) {
    test(`accessible: ${view}, ${scheme}, wide and on a phone`, async (visit) => {
      const page = await visit.open(`view=${view}${QUERY[view] ?? ""}`, { scheme });
      for (const { widthPx, heightPx } of SIZES) {
        await page.setViewport({ width: widthPx, height: heightPx });
        await visit.settled(page);
        await visit.picture(page, `${view}-${scheme}-${widthPx}`);
        assert.deepEqual(await seriousFindings(page), []);
        const overflow = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert.equal(overflow, 0, `${view} is wider than ${widthPx} px by this many`);
      }
    });
  }
}

/** Sizes one page for a wide screen and for a phone, and looks at it in both. */
async function looked(visit: Visit, page: Page, name: string): Promise<void> {
  for (const { widthPx, heightPx } of SIZES) {
    await page.setViewport({ width: widthPx, height: heightPx });
    await visit.settled(page);
    await visit.picture(page, `${name}-${widthPx}`);
    assert.deepEqual(await seriousFindings(page), []);
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    assert.equal(overflow, 0, `${name} is wider than ${widthPx} px by this many`);
  }
}

const OFFER = { ownerExists: true, password: true, passkeys: true, oidc: { name: "Example ID" } };

/** As if the server offered every way to sign in. */
function offering(visit: Visit, offer: object): void {
  visit.intercept = (request) =>
    new URL(request.url()).pathname === "/v1/auth"
      ? { status: 200, body: JSON.stringify({ ...OFFER, ...offer }) }
      : undefined;
}

for (const scheme of ["light", "dark"] as const) {
  test(`accessible: the pages in front of the dashboard, ${scheme}`, async (visit) => {
    visit.expectedFaults.push("401", "403");
    offering(visit, {});
    const signIn = await visit.open("", { scheme, token: null });
    await visit.sees(signIn, "Sign in", "h1");
    await looked(visit, signIn, `sign-in-${scheme}`);
    // With all that is folded, and with what went wrong.
    await signIn.$$eval(
      "details",
      (all) => all.forEach((each) => (each as unknown as { open: boolean }).open = true),
    );
    await press(signIn, "Sign in");
    await visit.sees(signIn, "Type your password.");
    await looked(visit, signIn, `sign-in-refused-${scheme}`);
    for (const fragment of [(await invited(visit)).fragment, "invitation=abc"]) {
      const page = await visit.open("", { scheme, fragment });
      await page.waitForSelector("h1");
      await looked(
        visit,
        page,
        `${fragment === "invitation=abc" ? "forged" : "invited"}-${scheme}`,
      );
    }
    offering(visit, { ownerExists: false });
    const setup = await visit.open("", { scheme, fragment: "setup=abc" });
    await visit.sees(setup, "Make your account", "h1");
    await looked(visit, setup, `setup-${scheme}`);
    const ownerless = await visit.open("", { scheme, token: null });
    await visit.sees(ownerless, "Welcome to Footfall", "h1");
    await looked(visit, ownerless, `ownerless-${scheme}`);
  });

  test(`accessible: the settings of people, ${scheme}`, async (visit) => {
    offering(visit, { oidc: null, passkeys: false });
    await invited(visit);
    const page = await openedBy(visit, OWNER, "view=settings", { scheme });
    for (const tab of ["People", "API tokens", "Audit", "This account"]) {
      await page.locator(`.settings-nav ::-p-text(${tab})`).click();
      await visit.sees(page, tab, ".settings-nav [aria-current]");
      await looked(visit, page, `settings-${tab.toLowerCase().replace(" ", "-")}-${scheme}`);
    }
    for (const [tab, button] of [["People", "Invite somebody"], ["API tokens", "Create a token"]]) {
      await page.locator(`.settings-nav ::-p-text(${tab})`).click();
      await visit.sees(page, tab!, ".settings-nav [aria-current]");
      await press(page, button!);
      await page.waitForSelector(".dialog[open]");
      assert.deepEqual(await seriousFindings(page), []);
      await page.keyboard.press("Escape");
      await visit.until(page, `document.querySelector(".dialog") === null`);
    }
  });
}
