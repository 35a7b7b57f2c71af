import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { FILE_BYTES_MAX, PRODUCTS } from "../../src/dashboard/views/settings_import_reply.ts";
import { UPLOAD_BYTES_MAX } from "../../src/importers/importer_limits.ts";
import { loadSource, SOURCE_NAMES } from "../../src/importers/sources.ts";
import { SHOP, shopExport } from "../importers/shop_exports.ts";
import type { TestProject } from "../support/app.ts";
import { press, pressByKey } from "./acts.ts";
import { assertFits } from "./axe.ts";
import { dashboardWorld, type Visit } from "./page.ts";

const test = dashboardWorld({ isFilled: false });
const EVENTS = SHOP.pageviews + SHOP.signups;

Deno.test("The page knows the products that the server knows, and the same limit", async () => {
  const known = await Promise.all(SOURCE_NAMES.map(async (name) => {
    const { title } = await loadSource(name);
    return { value: name, label: title };
  }));
  assert.deepEqual(PRODUCTS, known);
  assert.equal(FILE_BYTES_MAX, UPLOAD_BYTES_MAX);
});

let projects = 0;

async function opened(
  visit: Visit,
  scheme: "light" | "dark" = "light",
): Promise<{ page: Page; project: TestProject }> {
  projects++;
  const project = await visit.server.project({ id: `prj_moved${projects}`, name: "Moved" });
  const page = await visit.open("view=settings&section=import", { project: project.id, scheme });
  await page.waitForSelector(".import-drop");
  return { page, project };
}

/** A file on disk, deleted in the end. */
async function withFile(
  { name, bytes }: { name: string; bytes: Uint8Array },
  work: (path: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-upload-" });
  try {
    const path = join(folder, name);
    await Deno.writeFile(path, bytes);
    await work(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function choose(page: Page, path: string): Promise<void> {
  const input = await page.waitForSelector('input[type="file"]');
  await input!.uploadFile(path);
}

for (const scheme of ["light", "dark"] as const) {
  test(`A file is chosen, looked at, imported, and once more: ${scheme}`, (visit) =>
    withFile(shopExport("umami"), async (path) => {
      const { page, project } = await opened(visit, scheme);
      const look = (what: string) => assertFits(visit, page, `import-${what}-${scheme}`);
      await look("start");
      await choose(page, path);
      await press(page, "Look at export.zip");
      await visit.sees(page, `This is a file of Umami with ${EVENTS} events of 2026-05-01`);
      await visit.sees(page, "Nothing is stored yet");
      assert.deepEqual(await visit.server.stored(project), []);
      await page.evaluate(
        `document.querySelectorAll("details").forEach((each) => each.open = true)`,
      );
      await visit.sees(page, "referrer_domain");
      await look("found");
      await press(page, `Import ${EVENTS} events`);
      await visit.sees(page, `Imported: ${EVENTS} events`);
      assert.equal((await visit.server.stored(project)).length, EVENTS);
      await press(page, "Import another file");
      await choose(page, path);
      await press(page, "Look at export.zip");
      await visit.sees(page, `${EVENTS} of them were stored before`);
    }));
}

test("By keyboard alone: what follows each step has the focus", (visit) =>
  withFile(shopExport("umami"), async (path) => {
    const { page } = await opened(visit);
    const isFocused = (what: string) =>
      visit.until(page, `document.activeElement.textContent.startsWith(${JSON.stringify(what)})`);
    await page.focus('[type="file"]');
    await choose(page, path);
    await isFocused("Look at export.zip");
    await page.keyboard.press("Enter");
    await isFocused("This is a file of Umami");
    await pressByKey(page, `Import ${EVENTS} events`);
    await isFocused("Imported: ");
    await pressByKey(page, "Import another file");
    await visit.until(page, `document.activeElement.matches("[type=file]")`);
  }));

test("A file is dropped; one of no product, and one of another than was said, are told", async (visit) => {
  visit.expectedFaults.push("400");
  const { page } = await opened(visit);
  const drop = (name: string, text: string) =>
    page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      document.querySelector(".import-drop").dispatchEvent(
        new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    })()`);
  await drop("notes.txt", "hello\n");
  await press(page, "Look at notes.txt");
  await visit.sees(page, "product that this file is from is not recognised");
  await press(page, "Choose another file");
  await page.waitForSelector(".import-drop");
  const { name, bytes } = shopExport("mixpanel");
  await drop(name, new TextDecoder().decode(bytes));
  await page.select(".settings-form select", "amplitude");
  await press(page, `Look at ${name}`);
  await visit.sees(page, "none of Amplitude's. It looks like a file of Mixpanel");
  await page.select(".settings-form select", "mixpanel");
  await visit.sees(page, "Time zone of the export");
  await press(page, `Look at ${name}`);
  await visit.sees(page, `This is a file of Mixpanel with ${EVENTS} events`);
});

test("What is too large for a page shows the command that imports it", (visit) =>
  withFile({ name: "my export.zip", bytes: new Uint8Array(UPLOAD_BYTES_MAX + 1) }, async (path) => {
    const { page, project } = await opened(visit);
    await choose(page, path);
    await visit.sees(page, `import --from umami 'my export.zip' --project ${project.id}`);
    await page.select(".settings-form select", "ga4");
    await visit.sees(page, `import --from ga4 'my export.zip' --project ${project.id}`);
    await press(page, "Choose another file");
    await page.waitForSelector(".import-drop");
  }));
