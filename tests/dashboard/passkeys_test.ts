import type { Page } from "puppeteer-core";
import { addPasskeyDevice } from "../support/passkey_device.ts";
import { fill, press } from "./acts.ts";
import { member } from "./members.ts";
import { dashboardWorld, PASSWORD, type Visit } from "./page.ts";

const test = dashboardWorld();
const ACCOUNT = "/?view=settings&section=account";

/** Holds the first question for a challenge back, and the device until that has an end. */
const LATE_CHALLENGE = `
const ask = globalThis.fetch;
const create = navigator.credentials.create.bind(navigator.credentials);
const isSent = Promise.withResolvers();
const isOver = Promise.withResolvers();
let asked = 0;
globalThis.sendFirst = isSent.resolve;
globalThis.fetch = async (input, init) => {
  if (!String(input).endsWith("/v1/auth/passkeys/options") || asked++ > 0) return ask(input, init);
  await isSent.promise;
  return await ask(input, init).finally(isOver.resolve);
};
navigator.credentials.create = async (options) => {
  await isOver.promise;
  return await create(options);
};`;

/** Signs in by a password where the settings of the account open then; there is no passkey yet. */
async function signInToAccount(visit: Visit, page: Page, email: string): Promise<void> {
  await fill(page, "E-mail", email);
  await fill(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await visit.sees(page, "None yet.");
}

test("passkeys: offered after a password, made, used to sign in, and removed", async (visit) => {
  const who = await member(visit);
  const page = await visit.context.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await addPasskeyDevice(page);
  // Browsers take passkeys at this name, and at no bare address.
  await page.goto(visit.world.url.replace("127.0.0.1", "localhost"));
  await fill(page, "E-mail", who.email);
  await fill(page, "Password", PASSWORD);
  await page.keyboard.press("Enter");
  await visit.sees(page, "Next time sign in by fingerprint, face or PIN");
  await page.locator(".hint ::-p-text(Add a passkey)").click();
  await visit.sees(page, "None yet.");
  await press(page, "Add a passkey", ".panel");
  await fill(page, "Name", "Laptop");
  await press(page, "Go on", ".dialog");
  await visit.sees(page, "not used yet");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  await visit.until(page, `document.querySelector(".hint") === null`);
  await press(page, "Sign out", ".side-foot");
  await visit.sees(page, "Sign in", "h1");
  await press(page, "Sign in with a passkey");
  await page.waitForSelector(".shell");
  await visit.sees(page, "Last used");
  await press(page, "Remove the passkey Laptop");
  await press(page, "Remove it", ".dialog");
  await visit.sees(page, "None yet.");
});

test("passkeys: a device that is given up can be asked again", async (visit) => {
  const who = await member(visit);
  const page = await visit.context.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  const answer = await addPasskeyDevice(page, { isWaiting: true });
  await page.goto(visit.world.url.replace("127.0.0.1", "localhost") + ACCOUNT);
  // The device is asked to sign in, and its owner signs in by a password all the same.
  await press(page, "Sign in with a passkey");
  await visit.sees(page, "Waiting for your device…");
  await signInToAccount(visit, page, who.email);
  await press(page, "Add a passkey", ".panel");
  await press(page, "Go on", ".dialog");
  await visit.sees(page, "Waiting for your device…", ".dialog");
  await press(page, "Cancel", ".dialog");
  await answer();
  await press(page, "Add a passkey", ".panel");
  await press(page, "Go on", ".dialog");
  await visit.sees(page, "not used yet");
});

test("passkeys: a challenge that was given up and comes late refuses no other", async (visit) => {
  const who = await member(visit);
  const page = await visit.context.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await addPasskeyDevice(page);
  await page.evaluateOnNewDocument(LATE_CHALLENGE);
  await page.goto(visit.world.url.replace("127.0.0.1", "localhost") + ACCOUNT);
  await signInToAccount(visit, page, who.email);
  await press(page, "Add a passkey", ".panel");
  await press(page, "Go on", ".dialog");
  await press(page, "Cancel", ".dialog");
  await press(page, "Add a passkey", ".panel");
  const answered = page.waitForResponse((response) => response.url().endsWith("/passkeys/options"));
  await press(page, "Go on", ".dialog");
  await answered;
  await page.evaluate("sendFirst()");
  await visit.sees(page, "not used yet");
});
