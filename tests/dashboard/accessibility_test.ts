import assert from "node:assert/strict";
import { press } from "./acts.ts";
import { assertAccessible, assertFits } from "./axe.ts";
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

for (const scheme of ["light", "dark"] as const) {
  for (const view of VIEWS) {
    test(`accessible: ${view}, ${scheme}, wide and on a phone`, async (visit) => {
      const page = await visit.open(`view=${view}${QUERY[view] ?? ""}`, { scheme });
      await assertFits(visit, page, `${view}-${scheme}`);
    });
  }
}

/** The contrast of what can be told by a line alone with all that it may stand on. */
const CONTRASTS = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => byte / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const border = (selector) =>
    getComputedStyle(document.querySelector(selector)).borderTopColor;
  const lines = {
    field: border(".bar .input"),
    button: border(".bar .button"),
    comparison: token("--chart-comparison"),
  };
  return Object.entries(lines).flatMap(([name, line]) =>
    ["--page", "--surface", "--raised"].map((ground) => {
      const both = [light(line), light(token(ground))];
      return [name + " on " + ground, Math.max(...both) / Math.min(...both)];
    })
  );
})()`;

for (const scheme of ["light", "dark"] as const) {
  test(`accessible: borders of controls and compared lines stand out, ${scheme}`, async (visit) => {
    const page = await visit.open("", { scheme });
    await visit.settled(page);
    for (const [what, ratio] of await page.evaluate(CONTRASTS) as [string, number][]) {
      assert.ok(ratio >= 3, `${what}: ${ratio.toFixed(2)}`);
    }
  });
}

test("accessible: under the person's own colours a fill still tells what it tells", async (visit) => {
  const page = await visit.open("");
  await visit.settled(page);
  const devtools = await page.createCDPSession();
  const features = [{ name: "forced-colors", value: "active" }];
  await devtools.send("Emulation.setEmulatedMedia", { features });
  const fill = (selector: string) =>
    page.$eval(selector, (each) => getComputedStyle(each as never).backgroundColor);
  assert.notEqual(await fill(".legend .swatch-0"), await fill(".legend .swatch-comparison"));
  assert.notEqual(
    await fill('.segment[aria-pressed="true"]'),
    await fill('.segment[aria-pressed="false"]'),
  );
  assert.notEqual(await fill(".share"), await fill(".panel"));
  for (const select of [".bar .select", "select.tab-more"]) {
    const arrow = await page.$eval(select, (each) => getComputedStyle(each as never).appearance);
    assert.notEqual(arrow, "none", select);
  }
});

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
    await assertFits(visit, signIn, `sign-in-${scheme}`);
    // With all that is folded, and with what went wrong.
    await signIn.$$eval(
      "details",
      (all) => all.forEach((each) => (each as unknown as { open: boolean }).open = true),
    );
    await press(signIn, "Sign in");
    await visit.sees(signIn, "Type your password.");
    await assertFits(visit, signIn, `sign-in-refused-${scheme}`);
    for (const fragment of [(await invited(visit)).fragment, "invitation=abc"]) {
      const page = await visit.open("", { scheme, fragment });
      await page.waitForSelector("h1");
      const kind = fragment === "invitation=abc" ? "forged" : "invited";
      await assertFits(visit, page, `${kind}-${scheme}`);
    }
    offering(visit, { ownerExists: false });
    const setup = await visit.open("", { scheme, fragment: "setup=abc" });
    await visit.sees(setup, "Make your account", "h1");
    await assertFits(visit, setup, `setup-${scheme}`);
    const ownerless = await visit.open("", { scheme, token: null });
    await visit.sees(ownerless, "Welcome to Footfall", "h1");
    await assertFits(visit, ownerless, `ownerless-${scheme}`);
  });

  test(`accessible: the settings of people, ${scheme}`, async (visit) => {
    offering(visit, { oidc: null, passkeys: false });
    await invited(visit);
    const page = await openedBy(visit, OWNER, "view=settings", { scheme });
    for (const tab of ["People", "API tokens", "Audit", "This account"]) {
      await page.locator(`.settings-nav ::-p-text(${tab})`).click();
      await visit.sees(page, tab, ".settings-nav [aria-current]");
      await assertFits(visit, page, `settings-${tab.toLowerCase().replace(" ", "-")}-${scheme}`);
    }
    for (const [tab, button] of [["People", "Invite somebody"], ["API tokens", "Create a token"]]) {
      await page.locator(`.settings-nav ::-p-text(${tab})`).click();
      await visit.sees(page, tab!, ".settings-nav [aria-current]");
      await press(page, button!);
      await page.waitForSelector(".dialog[open]");
      await assertAccessible(page, button!);
      await page.keyboard.press("Escape");
      await visit.until(page, `document.querySelector(".dialog") === null`);
    }
  });
}
