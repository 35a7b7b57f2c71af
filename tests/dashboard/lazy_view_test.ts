import { press } from "./acts.ts";
import { dashboardWorld } from "./page.ts";

const test = dashboardWorld();

test("A view that cannot be loaded says so, and is there when it is tried again", async (visit) => {
  visit.expectedFaults.push("Failed to load resource");
  let isAway = true;
  visit.intercept = (request) =>
    isAway && request.url().includes("/assets/settings-") ? { status: 503 } : undefined;
  const page = await visit.open("view=settings");
  await visit.sees(page, "This part of the page could not be loaded.");
  isAway = false;
  await press(page, "Try again");
  await page.waitForSelector(".settings-install");
  await visit.settled(page);
});
