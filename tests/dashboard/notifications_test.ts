import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Json } from "../support/app.ts";
import { startMailServer } from "../mail/mail_server.ts";
import { parsedMail } from "../notifications/parsed_mail.ts";
import { startReceiver } from "../notifications/receiver.ts";
import { fill, press } from "./acts.ts";
import { assertAccessible, assertFits, SIZES } from "./axe.ts";
import { dashboardWorld, DEMO, EMPTY, OWNER, type Visit } from "./page.ts";
import {
  alertBody,
  type AlertForm,
  NEW_ALERT,
} from "../../src/dashboard/views/settings_alert_form.ts";
import { AlertBody } from "../../src/notifications/alert_definition.ts";

const mailServer = await startMailServer();
const receiver = startReceiver();
Deno.test.afterAll(async () => {
  await mailServer.close();
  await receiver.close();
});
const test = dashboardWorld({
  env: (url) =>
    Promise.resolve({
      SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      SMTP_FROM: "Footfall <stats@example.org>",
      PUBLIC_URL: url,
      // A digest is many reads: none of them is to end early on a slow machine.
      READ_TIMEOUT_MS: "120000",
    }),
});

Deno.test("alert form: a condition that is not finished is refused, not left out", () => {
  const half = { field: "path", op: "is", values: [] };
  const whole = { ...half, values: ["/"] };
  const refused = (changes: Partial<AlertForm>) => {
    const body = alertBody({ ...NEW_ALERT, title: "A", bound: "1", ...changes });
    return AlertBody.safeParse(body).error?.issues.map(({ path }) => path.join("."));
  };
  assert.equal(refused({ filters: [whole] }), undefined);
  assert.deepEqual(refused({ filters: [half] }), ["on.question.filters.0.values"]);
  assert.deepEqual(refused({ kind: "finding", filters: [half] }), ["on.filters.0.values"]);
  const match = { name: "buy", filters: [half] };
  const field = "match.filters.0.values";
  assert.deepEqual(refused({ counting: "match", match }), [`on.question.${field}`]);
  assert.deepEqual(refused({ kind: "silence", match }), [`on.${field}`]);
  // Of any event there are no conditions: without them it would be told of other events.
  const anyEvent = { name: null, filters: [whole] };
  assert.deepEqual(refused({ kind: "silence", match: anyEvent }), ["on.match.name"]);
  assert.equal(refused({ kind: "silence" }), undefined);
});

/** What closes other dialogs. */
async function slip(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.click(2, 2);
}

async function looked(visit: Visit, page: Page, name: string): Promise<void> {
  await assertFits(visit, page, name);
  await page.setViewport({ width: 1440, height: 900 });
}

test("A webhook whose first answer was lost is saved once, and its secret is shown", async (visit) => {
  visit.expectedFaults.push("412");
  const page = await visit.open("view=settings&section=notifications", { project: EMPTY });
  await visit.sees(page, "No digest is sent");
  await press(page, "New webhook");
  await fill(page, "Title", "Hooks");
  await fill(page, "URL", `${receiver.url}/in`);
  await page.evaluate(`const original = fetch; globalThis.fetch = async (url, call) => {
    const reply = await original(url, call);
    if (call?.method === "PUT") throw new TypeError("Failed to fetch");
    return reply;
  }`);
  await press(page, "Save");
  await visit.sees(page, "The server cannot be reached.", "dialog");
  await page.evaluate("globalThis.fetch = original");
  await press(page, "Save");
  await visit.sees(page, "whsec_");
  const slugs = async () =>
    (await visit.read("webhooks", { project: EMPTY })).webhooks.map(({ slug }: Json) => slug);
  assert.deepEqual(await slugs(), ["hooks"]);
  await visit.server.admin("DELETE", `/v1/webhooks/hooks?project=${EMPTY}`);
});

test("A webhook, an alert and a digest are made, tried, changed and deleted", async (visit) => {
  visit.expectedFaults.push("400", "409");
  const page = await visit.open("view=settings&section=notifications");
  await visit.sees(page, "No digest is sent");
  await looked(visit, page, "notifications-empty-light");

  await press(page, "New webhook");
  await fill(page, "Title", "Team chat");
  await fill(page, "URL", `${receiver.url}/in`);
  await press(page, "Save");
  await visit.sees(page, "The secret of Team chat");
  await slip(page);
  await visit.sees(page, "whsec_");
  await press(page, "I have copied it");
  await press(page, "Test Team chat");
  await visit.sees(page, "team-chat: sent: Answered 204.");
  await press(page, "Done");

  await press(page, "New alert");
  await fill(page, "Title", "Few visitors");
  await fill(page, "Value", "none");
  await press(page, "Save");
  await visit.sees(page, "Give a number.");
  await slip(page);
  await fill(page, "Value", "1,000,000");
  await page.locator(".check ::-p-text(Team chat)").click();
  await assertAccessible(page, "the form of an alert");
  await visit.picture(page, "notifications-alert-form-light-1440");
  await press(page, "Save");
  await visit.sees(page, "Visitors below 1,000,000 in 24h");
  await press(page, "Change Few visitors");
  await page.select(".settings-form select", "silence");
  await fill(page, "For so many minutes", "30");
  await press(page, "Save");
  await visit.sees(page, "No event for 30 minutes");

  await press(page, "Change Few visitors");
  await page.select(".settings-form select", "threshold");
  await press(page, "Condition");
  await page.select("select:has(option[value=vital])", "match");
  await visit.sees(page, "Only what fulfils", ".settings-form");
  await press(page, "Remove the condition on Page");
  await page.select("select:has(option[value=vital])", "vital");
  await fill(page, "Value", "2500");
  await press(page, "Above");
  await page.locator(".check ::-p-text(Tell, too, when it is over)").click();
  await looked(visit, page, "notifications-alert-vital-light");
  await press(page, "Save");
  await visit.sees(page, "LCP (p75) above 2.5 s in 24h");
  const saved = await visit.server.admin("GET", `/v1/alerts?project=${DEMO}`);
  assert.equal(saved.body.alerts[0].recovery, false);

  await press(page, "New digest");
  await press(page, "Another figure");
  await page.select("select:has(option[value=funnel])", "funnel");
  await page.waitForSelector("option[value=checkout]");
  await page.select("select:has(option[value=checkout])", "checkout");
  await fill(page, "Title", "The shop");
  await fill(page, "By mail to", "nobody@example.com");
  await press(page, "Save");
  await visit.sees(page, "This is nobody who may see the project");
  await fill(page, "By mail to", OWNER.email);
  await press(page, "Every day");
  await visit.picture(page, "notifications-digest-form-light-1440");
  await press(page, "Save");
  await visit.sees(page, "Every day at 08:00");
  await press(page, "Test The shop");
  await visit.sees(page, `${OWNER.email}: sent: The mail server took it.`);
  await press(page, "Done");
  await visit.sees(page, "Test: ", "table[aria-label='Messages'], table");
  await looked(visit, page, "notifications-light");
  const dark = await visit.open("view=settings&section=notifications", { scheme: "dark" });
  await visit.sees(dark, "The shop");
  await looked(visit, dark, "notifications-dark");

  await press(page, "Delete Team chat");
  await press(page, "Delete it");
  await visit.sees(page, "still goes to it");
  await press(page, "Cancel");
  await press(page, "Delete Few visitors");
  await press(page, "Delete it");
  await visit.sees(page, "Nothing is watched");
});

test("The bound of an alert is in the list as in messages: in the goal's currency, with its digits", async (visit) => {
  const put = async (path: string, body: unknown) => {
    const saved = await visit.server.admin("PUT", `/v1/${path}?project=${EMPTY}`, body);
    assert.equal(saved.status, 201, JSON.stringify(saved.body));
  };
  const match = { name: "buy" };
  const value = { property: "amount", currency: "JPY" };
  await put("goals/bound", { title: "Buy", match, value });
  const alert = (slug: string, question: Json, above: number) => {
    const on = { kind: "threshold", question, above };
    return put(`alerts/${slug}`, { title: slug, on, to: [OWNER.email] });
  };
  await alert("worth", { goal: "bound", measure: "amount" }, 1200.5);
  await alert("reached", { goal: "bound", measure: "conversions" }, 1200);
  await alert("bounced", { metric: "bounceRate" }, 0.4125);
  const page = await visit.open("view=settings&section=notifications", { project: EMPTY });
  await visit.sees(page, "Value of the goal bound above ¥1,200.5 in 24h");
  await visit.sees(page, "Conversions of the goal bound above 1,200 in 24h");
  await visit.sees(page, "Bounce rate (0 to 1) above 41.25% in 24h");
});

test("Bookmarks of earlier versions, which called the section told, lead here", async (visit) => {
  const page = await visit.open("view=settings&section=told", { project: EMPTY });
  await visit.sees(page, "Messages", ".settings-notifications");
  await visit.sees(page, "Reports & alerts", ".settings-nav [aria-current]");
});

test("Who may not write has no such part", async (visit) => {
  const token = await visit.token("read");
  const page = await visit.open("view=settings&section=notifications", { token });
  await visit.settled(page);
  assert.doesNotMatch(await visit.text(page, ".settings-nav"), /Reports & alerts/);
});

test("The mails read well: wide, on a phone, in light and dark", async (visit) => {
  const path = (kind: string) => `/v1/${kind}/look?project=${DEMO}`;
  const digest = { title: "The shop, every Monday", every: "weekly", to: [OWNER.email] };
  const put = async (kind: string, body: unknown) => {
    let saved = await visit.server.admin("PUT", path(kind), body);
    // The one session may be busy with what the page before has asked.
    for (let i = 0; i < 10 && saved.status === 503; i++) {
      saved = await visit.server.admin("PUT", path(kind), body);
    }
    assert.equal(saved.status, 201, JSON.stringify(saved.body));
  };
  await put("digests", digest);
  const on = { kind: "threshold", question: { metric: "visitors" }, below: 1e6, over: "7d" };
  await put("alerts", { title: "Few come", on, to: [OWNER.email] });
  for (const kind of ["digests", "alerts"]) {
    mailServer.received.length = 0;
    const sent = await visit.server.admin("POST", `/v1/${kind}/look/test?project=${DEMO}`);
    assert.equal(sent.body.deliveries?.[0].status, "sent", JSON.stringify(sent.body));
    const { html, pictures, text } = parsedMail(mailServer.received[0]!.raw);
    const shown = pictures.reduce(
      (known, { cid, bytes }) =>
        known.replace(`cid:${cid}`, `data:image/png;base64,${bytes.toBase64()}`),
      html,
    );
    assert.equal(pictures.length, kind === "digests" ? 1 : 0);
    assert.match(text, /What the numbers mean: Visitors are distinct actors/);
    for (const scheme of ["light", "dark"] as const) {
      const page = await visit.openAt("data:text/html,<title>x</title>", { scheme });
      for (const size of SIZES) {
        await page.setViewport(size);
        await page.setContent(shown);
        await page.waitForFunction(
          "[...document.images].every((image) => image.complete && image.naturalWidth > 0)",
          { polling: 50 },
        );
        await visit.picture(page, `mail-${kind}-${scheme}-${size.width}`);
        await assertAccessible(page, `mail of ${kind}, ${scheme}, at ${size.width}`);
      }
      await page.close();
    }
  }
});
