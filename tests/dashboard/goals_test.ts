import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import {
  bodyOf,
  faultsOf,
  formOf,
  type GoalForm,
  newForm,
} from "../../src/dashboard/views/goals_form.ts";
import type { Goal } from "../../src/dashboard/views/goals_reading.ts";
import { freeSlugOf, slugFault, slugOf } from "../../src/dashboard/views/goals_slug.ts";
import type { Json } from "../support/app.ts";
import { NOON_ZONE } from "../notifications/noon_zone.ts";
import { fill, pressByKey } from "./acts.ts";
import { dashboardWorld, DEMO, EMPTY, GOAL, type Visit } from "./page.ts";

const test = dashboardWorld();

const integer = (value: number) => value.toLocaleString("en-US");
const percent = (value: number) =>
  value.toLocaleString("en-US", {
    style: "percent",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
const euros = (value: number) =>
  value.toLocaleString("en-US", { style: "currency", currency: "EUR" });

/** What a table's cells say, row by row. */
async function cells(page: Page, caption: string): Promise<string[][]> {
  return await page.$$eval(
    "table",
    (tables, wanted) => {
      const table = tables.find((each) => each.querySelector("caption")?.textContent === wanted);
      return [...table?.querySelectorAll("tbody tr") ?? []].map((row) =>
        [...row.querySelectorAll("th, td")].map((cell) => cell.textContent!.trim())
      );
    },
    caption,
  );
}

async function tiles(page: Page): Promise<Record<string, string>> {
  return Object.fromEntries(
    await page.$$eval(
      ".goals-tiles .tile",
      (all) =>
        all.map((tile) => [
          tile.querySelector(".tile-label")!.textContent!,
          tile.querySelector(".tile-value")!.textContent!,
        ]),
    ),
  );
}

async function closed(visit: Visit, page: Page): Promise<void> {
  await visit.until(page, `document.querySelector("dialog") === null`, "the dialog is closed");
}

const valid: GoalForm = { ...newForm("Order"), match: { name: "purchase", filters: [] } };

Deno.test("goal slug: made of the title, and never one that is taken", () => {
  assert.equal(slugOf("  Café visit! ", "goal"), "cafe-visit");
  assert.equal(slugOf("日本", "goal"), "goal");
  assert.equal(freeSlugOf("Order", "goal", ["order", "order-2"]), "order-3");
  for (const title of ["é".repeat(90), "a ".repeat(90), "-", "$$ Ünï"]) {
    const first = freeSlugOf(title, "goal", []);
    assert.equal(slugFault(first), null, first);
    const second = freeSlugOf(title, "goal", [first]);
    assert.equal(slugFault(second), null, second);
    assert.notEqual(first, second);
  }
});

Deno.test("goal form: what is missing is named", () => {
  assert.deepEqual(Object.keys(faultsOf(newForm(), [])).sort(), ["match", "title"]);
  assert.deepEqual(faultsOf(valid, []), {});
  assert.deepEqual(faultsOf(valid, ["order"]), {}, "a free slug is found");
  assert.deepEqual(Object.keys(faultsOf({ ...valid, slug: "order" }, ["order"])), ["slug"]);
  const unfinished = { name: "a", filters: [{ field: "path", op: "is", values: [] }] };
  assert.deepEqual(Object.keys(faultsOf({ ...valid, match: unfinished }, [])), ["match"]);
  const fixed: GoalForm = { ...valid, kind: "fixed", amount: "x", currency: "E" };
  assert.deepEqual(Object.keys(faultsOf(fixed, [])).sort(), ["amount", "currency"]);
  assert.deepEqual(Object.keys(faultsOf({ ...valid, kind: "property" }, [])), ["property"]);
  assert.deepEqual(bodyOf({ ...fixed, amount: "1,000", currency: "EUR" }).value, {
    fixed: 1000,
    currency: "EUR",
  });
});

Deno.test("goal form: a saved goal comes back as it was", () => {
  const match = { name: "purchase", filters: [{ field: "path", op: "is", values: ["/a"] }] };
  for (const value of [null, { fixed: 0.5, currency: "USD" }, { property: "v", currency: "EUR" }]) {
    const goal = { slug: "a", title: "A", match, valueDefinition: value } as unknown as Goal;
    assert.deepEqual(bodyOf(formOf(goal)), { title: "A", match, value });
  }
});

test("goals: the table and the details show the numbers of the API", async (visit) => {
  const page = await visit.open("?view=goals");
  await visit.sees(page, GOAL.title, "table");
  const { goals: [goal] } = await visit.read("goals", { interval: "day" });
  assert.ok(goal.uniqueConversions > 0, "the demo shop sells something");
  const [people, conversions] = [integer(goal.uniqueConversions), integer(goal.totalConversions)];
  const [rate, value] = [percent(goal.conversionRate.value), euros(goal.value.amount)];
  const [row] = await cells(page, "Goals");
  assert.deepEqual(row!.slice(2, 6), [people, conversions, rate, value]);

  await pressByKey(page, "Purchase purchase");
  await visit.sees(page, "Where they came from");
  await visit.settled(page);
  assert.ok(page.url().includes("goal=purchase"));
  assert.deepEqual(await tiles(page), {
    People: people,
    Conversions: conversions,
    "Conversion rate": rate,
    Value: value,
  });
  const { rows } = await visit.read("acquisition", { goal: GOAL.slug, by: "channel" });
  assert.deepEqual(
    await cells(page, "Conversions by channel"),
    rows.map((each: Json) => [
      each.value,
      integer(each.conversions as number),
      integer(each.visitors as number),
      percent((each.conversionRate as { value: number }).value),
      euros((each.goalValue as { amount: number }).amount),
    ]),
  );
  const bars = async () =>
    await page.evaluate(
      "[...document.querySelectorAll('tbody .share')].map((bar) => parseFloat(bar.style.width))",
    ) as number[];
  const counts = rows.map((each: Json) => each.conversions as number);
  const most = Math.max(...counts);
  const near = (found: number[], wanted: number[]) =>
    assert.ok(found.every((width, i) => Math.abs(width - wanted[i]!) < 0.1), found.join());
  near(await bars(), counts.map((count: number) => 100 * count / most));
  await pressByKey(page, "Rate");
  const rates = rows.map((each: Json) => (each.conversionRate as { value: number }).value)
    .toSorted((a: number, b: number) => b - a);
  near(await bars(), rates.map((each: number) => 100 * each / rates[0]!));
  await pressByKey(page, "Table");
  const points = await cells(page, "Purchase: people over time");
  assert.deepEqual(
    points.map(([, count]) => count),
    goal.series.map((point: Json) => integer(point.uniqueConversions as number)),
  );
});

test("goals: the address leads to a goal and its split, and back", async (visit) => {
  const page = await visit.open("?view=goals&goal=purchase&by=device&figure=totalConversions");
  await visit.sees(page, "Mobile", "table");
  await visit.until(
    page,
    `document.querySelector(".goals-tiles .tile-selected").innerText.includes("Conversions")`,
  );
  await pressByKey(page, "All goals");
  await visit.sees(page, "New goal");
  assert.ok(!/goal=|by=|figure=/.test(page.url()), page.url());
  await page.goBack();
  await visit.sees(page, "Mobile", "table");
});

test("goals: one is made, changed and deleted with the keyboard alone", async (visit) => {
  const page = await visit.open("?view=goals");
  await visit.sees(page, GOAL.title, "table");
  await pressByKey(page, "New goal");
  await page.waitForSelector("dialog[open]");
  await pressByKey(page, "Create goal");
  await visit.sees(page, "Give the goal a title.", "dialog");
  await visit.sees(page, "Choose the event that counts.", "dialog");
  await fill(page, "Title", "Purchase");
  await visit.until(page, `document.querySelectorAll("dialog input")[1].value === "purchase-2"`);
  await fill(page, "Event that counts", "add_to_cart");
  const { entered } = await visit.read("funnels", { steps: ["add_to_cart"] });
  await visit.sees(page, `${integer(entered)} people in this range`, "dialog");
  await pressByKey(page, "Fixed");
  await fill(page, "Amount", "2,5");
  await fill(page, "Currency", "chf");
  await visit.picture(page, "goals-dialog");
  await page.keyboard.press("Enter");
  await closed(visit, page);
  await visit.sees(page, "add_to_cart", "table");
  const goals = async () => (await visit.read("goals")).goals as Json[];
  const made = (await goals()).find(({ slug }) => slug === "purchase-2")!;
  assert.deepEqual(made.match, { name: "add_to_cart", filters: [] });
  assert.deepEqual(made.valueDefinition, { fixed: 2.5, currency: "CHF" });

  await pressByKey(page, "Purchase add_to_cart");
  await visit.settled(page);
  await pressByKey(page, "Edit");
  await page.waitForSelector("dialog[open]");
  await fill(page, "Title", "Into the cart");
  await pressByKey(page, "None");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.click(2, 2);
  await visit.sees(page, "Edit the goal", "dialog[open]");
  await pressByKey(page, "Cancel");
  await closed(visit, page);
  await pressByKey(page, "Edit");
  await page.waitForSelector("dialog[open]");
  await fill(page, "Title", "Into the cart");
  await page.keyboard.press("Enter");
  await closed(visit, page);
  await visit.sees(page, "Into the cart", ".panel-title");
  const changed = (await goals()).find(({ slug }) => slug === "purchase-2")!;
  assert.deepEqual(changed.valueDefinition, { fixed: 2.5, currency: "CHF" });

  await pressByKey(page, "Delete");
  await page.waitForSelector("dialog[open]");
  await (await page.$("dialog .button-danger"))!.focus();
  await page.keyboard.press("Enter");
  await closed(visit, page);
  await visit.until(page, `!document.body.innerText.includes("Into the cart")`);
  assert.deepEqual((await goals()).map(({ slug }) => slug), ["purchase"]);
});

test("goals: a new one replaces none that somebody else has made meanwhile", async (visit) => {
  visit.expectedFaults.push("412");
  const page = await visit.open("?view=goals");
  await visit.sees(page, GOAL.title, "table");
  await pressByKey(page, "New goal");
  await page.waitForSelector("dialog[open]");
  const at = (slug: string) => `/v1/goals/${slug}?project=${DEMO}`;
  const theirs = { title: "Theirs", match: { name: "purchase" } };
  assert.equal((await visit.server.admin("PUT", at("cart"), theirs)).status, 201);
  await fill(page, "Title", "Cart");
  await fill(page, "Event that counts", "add_to_cart");
  // Theirs is not taken for what got no answer.
  await page.evaluate(`const original = fetch; globalThis.fetch = (url, call) =>
    call?.method === "PUT" ? Promise.reject(new TypeError("Failed to fetch")) : original(url, call)`);
  await page.keyboard.press("Enter");
  await visit.sees(page, "The server cannot be reached.", "dialog");
  await page.evaluate("globalThis.fetch = original");
  await page.keyboard.press("Enter");
  await closed(visit, page);
  const all: readonly Json[] = (await visit.read("goals")).goals;
  const titles = all.map(({ slug, title }) => `${slug}: ${title}`);
  assert.deepEqual(titles, ["cart: Theirs", "cart-2: Cart", `${GOAL.slug}: ${GOAL.title}`]);
  for (const slug of ["cart", "cart-2"]) await visit.server.admin("DELETE", at(slug));
});

test("goals: without any, one of the project's own events is the example", async (visit) => {
  visit.intercept = (request) =>
    request.method() === "GET" && new URL(request.url()).pathname === "/v1/goals"
      ? { status: 200, body: JSON.stringify({ goals: [] }) }
      : undefined;
  const page = await visit.open("?view=goals");
  await visit.sees(page, "No goals yet");
  await visit.picture(page, "goals-start");
  await pressByKey(page, "Use “purchase”");
  await visit.until(page, `document.querySelector("dialog input").value === "Purchase"`);
});

test("goals: a project without events has no example", async (visit) => {
  const page = await visit.open("?view=goals", { project: EMPTY });
  await visit.sees(page, "No goals yet");
  await visit.sees(page, "New goal");
  assert.ok(!(await visit.text(page)).includes("Use “"));
});

test("goals: who may only read is told why nothing can be changed", async (visit) => {
  const token = await visit.token("read", [DEMO]);
  const page = await visit.open("?view=goals", { token });
  await visit.sees(page, "Your link may only read");
  assert.ok(!(await visit.text(page, "button")).includes("New goal"));
});

test("goals: an error stays in its panel until it is tried again", async (visit) => {
  visit.expectedFaults.push("500");
  let broken = "/v1/acquisition";
  visit.intercept = (request) => {
    if (new URL(request.url()).pathname !== broken) return;
    return { status: 500, body: JSON.stringify({ code: "x", detail: "Out of order." }) };
  };
  const page = await visit.open("?view=goals&goal=purchase");
  await visit.sees(page, "Out of order.");
  await visit.sees(page, "Conversion rate", ".goals-tiles");
  broken = "";
  await pressByKey(page, "Try again");
  await visit.sees(page, "Direct", "table");
  broken = "/v1/goals";
  await page.reload();
  await visit.sees(page, "Out of order.");
});

test("goals: what the server refuses is told in the dialog", async (visit) => {
  visit.expectedFaults.push("409");
  visit.intercept = (request) =>
    request.method() === "PUT"
      ? { status: 409, body: JSON.stringify({ code: "conflict", detail: "One goal too many." }) }
      : undefined;
  const page = await visit.open("?view=goals&goal=purchase");
  await pressByKey(page, "Edit");
  await page.waitForSelector("dialog[open]");
  await pressByKey(page, "Save goal");
  await visit.sees(page, "One goal too many.", "dialog");
});

test("goals: a reply that breaks off is told, and the form can be sent again", async (visit) => {
  const page = await visit.open("?view=goals&goal=purchase");
  await pressByKey(page, "Edit");
  await page.waitForSelector("dialog[open]");
  await page.evaluate(`const original = fetch; globalThis.fetch = (url, call) => {
    if (call?.method !== "PUT") return original(url, call);
    return Promise.resolve(new Response(new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode('{"slug":'));
        stream.error(new TypeError("network error"));
      },
    })));
  }`);
  await pressByKey(page, "Save goal");
  await visit.sees(page, "The server cannot be reached.", "dialog");
  await page.evaluate("globalThis.fetch = original");
  await pressByKey(page, "Save goal");
  await closed(visit, page);
});

test("goals: hours that have not begun are no zeros", async (visit) => {
  const query = new URLSearchParams({ view: "goals", range: "today", timezone: NOON_ZONE });
  const page = await visit.open(query.toString());
  await page.waitForSelector(".sparkline");
  const [open] = await page.$$eval(
    ".sparkline-open",
    (all) => all.map((line) => line.getAttribute("points")!),
  );
  const lastPx = Number(open!.split(" ").at(-1)!.split(",")[0]);
  assert.ok(lastPx > 40 && lastPx < 80, `it ends at noon, not at ${lastPx} px of 120`);
  await pressByKey(page, "Purchase purchase");
  await visit.sees(page, "Where they came from");
  await pressByKey(page, "Table");
  const hours = await cells(page, "Purchase: people over time");
  assert.equal(hours.length, 24);
  assert.notEqual(hours[10]![1], "–");
  assert.deepEqual(hours.slice(14).map(([, count]) => count), Array(10).fill("–"));
});

test("goals: their CSV names currencies where a goal has a value, and has no empty column", async (visit) => {
  const { id } = await visit.server.project({ name: "Counted" });
  const save = (slug: string, value?: object) =>
    visit.server.admin("PUT", `/v1/goals/${slug}?project=${id}`, {
      title: slug,
      match: { name: slug },
      ...value && { value },
    });
  const head = async (query = "?view=goals", project = id, table = "Goals") => {
    const page = await visit.open(query, { project });
    await visit.settled(page);
    await page.evaluate(`URL.createObjectURL = (blob) => (globalThis.saved = blob.text(), "#saved");
      HTMLAnchorElement.prototype.click = () => {}`);
    await pressByKey(page, `CSV: ${table}`);
    await visit.until(page, `"saved" in globalThis`);
    return String(await page.evaluate("saved")).split("\r\n")[0]!;
  };
  await save("signup");
  assert.doesNotMatch(await head(), /Currency/);
  await save("order", { property: "value", currency: "EUR" });
  assert.match(await head(), /,Value,Currency/);
  const sources = await head("?view=goals&goal=purchase", DEMO, "Conversions by channel");
  assert.match(sources, /,Value,Currency$/);
});

test("goals: a title of one long word stays within its panel on a phone", async (visit) => {
  const title = "w".repeat(80);
  await visit.server.admin("PUT", `/v1/goals/word?project=${DEMO}`, {
    ...GOAL,
    slug: undefined,
    title,
  });
  const page = await visit.open("?view=goals&goal=word", { widthPx: 390 });
  await visit.sees(page, title, ".panel-title");
  await visit.settled(page);
  const overflow = await page.evaluate(`document.documentElement.scrollWidth - innerWidth`);
  assert.equal(overflow, 0);
  await visit.server.admin("DELETE", `/v1/goals/word?project=${DEMO}`);
});

for (const scheme of ["light", "dark"] as const) {
  test(`goals: in a picture, ${scheme}, wide and narrow`, async (visit) => {
    for (const widthPx of [1440, 390]) {
      const list = await visit.open("?view=goals", { scheme, widthPx });
      await visit.sees(list, GOAL.title, "table");
      await visit.picture(list, `goals-${scheme}-${widthPx}`);
      const one = await visit.open("?view=goals&goal=purchase", { scheme, widthPx });
      await visit.sees(one, "Direct", "table");
      await visit.settled(one);
      const overflow = await one.evaluate(`document.documentElement.scrollWidth - innerWidth`);
      assert.equal(overflow, 0);
      await visit.picture(one, `goals-detail-${scheme}-${widthPx}`);
    }
  });
}
