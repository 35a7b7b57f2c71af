import assert from "node:assert/strict";
import { press, typeInto } from "./acts.ts";
import { dashboardWorld, PASSWORD } from "./page.ts";

const test = dashboardWorld({ isFilled: false });

test("set-up: from the first start's link to an invited colleague, by keyboard", async (visit) => {
  visit.expectedFaults.push("401", "403");
  const early = await visit.open("", { token: null });
  await visit.sees(early, "Nobody has an account on this server yet.");
  const forged = await visit.open("", { fragment: "setup=abc" });
  await typeInto(forged, "E-mail", "mallory@example.com");
  await typeInto(forged, "Name", "Mallory");
  await typeInto(forged, "Password", PASSWORD);
  await forged.keyboard.press("Enter");
  await visit.sees(forged, "This link is not whole, or was never given out.");

  const secret = await visit.server.app.makeSetUpLink();
  const page = await visit.open("", { fragment: `setup=${secret}` });
  await visit.sees(page, "Make your account", "h1");
  await visit.until(page, `document.activeElement.type === "email"`);
  await page.keyboard.press("Enter");
  await visit.sees(page, "Type your e-mail address.");
  await page.keyboard.type("ada@example.com");
  await typeInto(page, "Name", "Ada Lovelace");
  await typeInto(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await visit.sees(page, "Overview", "h1");
  await visit.sees(page, "Ada Lovelace", ".side-foot");
  assert.ok(!page.url().includes("#"), page.url());

  // The other tabs hear of it, and the link has done its work.
  await visit.sees(early, "Overview", "h1");
  const used = await visit.open("", { fragment: `setup=${secret}` });
  await visit.sees(used, "This link has done its work");
  assert.equal(await visit.server.app.makeSetUpLink(), null);

  await page.bringToFront();
  await page.locator("nav ::-p-text(Settings)").click();
  await page.locator(".settings-nav ::-p-text(People)").click();
  await press(page, "Invite somebody");
  await page.waitForSelector(".dialog[open]");
});
