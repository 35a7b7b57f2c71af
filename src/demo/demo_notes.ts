import { DAY_MS } from "../limits.ts";
import { SHOP_TIMEZONE } from "./shop.ts";
import { shopDays } from "./visitors/calendar.ts";
import { SURGE_DAYS } from "./visitors/demo_events.ts";

/** A note of the shop's staff: a day or an instant, and a line of text. */
interface DemoNote {
  readonly at: string;
  readonly text: string;
}

const DEPLOYED_DAYS_AGO = 12;

/** Returns the notes of a history that ends at `untilMs`: why people came, and what was changed. */
export function demoNotes(untilMs: number): DemoNote[] {
  const [surge] = shopDays(untilMs, SURGE_DAYS + 1, SHOP_TIMEZONE);
  return [
    {
      at: new Date(untilMs - DEPLOYED_DAYS_AGO * DAY_MS).toISOString(),
      text: "Version 2.4 of the shop is live: a shorter checkout",
    },
    { at: surge!.date, text: "“We measured 500 grinders” is on Hacker News" },
  ];
}
