import assert from "node:assert/strict";
import { MATOMO } from "../../src/importers/matomo/source.ts";
import { convertedFiles, jsonLines, mapped } from "./rows.ts";
import { matomoVisit } from "./source_rows.ts";

Deno.test("Matomo: times are of the site's zone, texts escaped for HTML, names of devices translated", async () => {
  const first = 1_777_629_600;
  const ahead = 2 * 3600;
  // The shape of a reply of a site in Europe/Paris, asked for in French.
  const visit = matomoVisit({
    firstActionTimestamp: first - 3,
    deviceType: "Bureau",
    deviceTypeIcon: "plugins/Morpheus/icons/dist/devices/desktop.png",
    browserName: "Inconnu",
    browserCode: "UNK",
    operatingSystemName: "Inconnu",
    operatingSystemCode: "UNK",
    referrerName: "Tom &amp; Jerry",
    actionDetails: [
      {
        type: "action",
        url: "https://shop.example/?a=1&b=2",
        pageTitle: "Q&amp;A &lt;1&gt; &quot;L&#039;été&quot; &amp;lt;",
        pageId: "1",
        timestamp: first + ahead,
      },
      {
        type: "event",
        eventCategory: "A &amp; B",
        eventAction: "&lt;play&gt;",
        eventName: "&quot;x&quot;",
        pageId: "2",
        timestamp: first + ahead + 9,
      },
    ],
  });
  const [page, played] = await mapped(MATOMO, visit);
  assert.deepEqual([page?.timestamp, played?.timestamp], [first * 1000, (first + 9) * 1000]);
  assert.deepEqual([page?.url, page?.title, page?.campaign?.source], [
    "https://shop.example/?a=1&b=2",
    `Q&A <1> "L'été" &lt;`,
    "Tom & Jerry",
  ]);
  assert.deepEqual([played?.name, played?.properties], ["<play>", {
    dimension1: "gold",
    category: "A & B",
    label: '"x"',
  }]);
  const { browser, os, device } = page?.server ?? {};
  assert.deepEqual([browser, os, device], [null, null, "desktop"]);
  // Behind UTC by three hours and a half; without actions; times that no zone explains.
  for (
    const [written, expected] of [[first - 12_600, first], [
      first + 90_000,
      first + 90_000,
    ]] as const
  ) {
    const actionDetails = [{ type: "action", url: "/", pageId: "1", timestamp: written }];
    const [event] = await mapped(MATOMO, { ...visit, actionDetails });
    assert.equal(event?.timestamp, expected * 1000);
  }
  assert.deepEqual(await mapped(MATOMO, { ...visit, actionDetails: [] }), []);
  // A list without the first action, which was 20 minutes before; the last one tells the zone. Else the first does.
  const late = [{ type: "action", url: "/", pageId: "1", timestamp: first + ahead }];
  const lateVisit = { ...visit, actionDetails: late, firstActionTimestamp: first - 1_200 };
  for (
    const [more, expected] of [
      [{ lastActionTimestamp: first + 2 }, first],
      [{ lastActionTimestamp: first + 2, truncatedActionsCount: 3 }, first - 900],
      [{ firstActionTimestamp: first - 40, lastActionTimestamp: first + 900 }, first],
    ] as const
  ) {
    const [event] = await mapped(MATOMO, { ...lateVisit, ...more });
    assert.equal(event?.timestamp, expected * 1000, JSON.stringify(more));
  }
  const cut = jsonLines("visits.json", [matomoVisit({ truncatedActionsCount: 3 })]);
  const outcomes = (await convertedFiles(MATOMO, [cut])).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes.at(-1), { leftOut: "ends of visits that Matomo cut off" });
});

/** When the clocks of Berlin change: two hours ahead of UTC in the time between. */
const SPRING = Date.parse("2026-03-29T01:00:00Z") / 1000;
const AUTUMN = Date.parse("2026-10-25T01:00:00Z") / 1000;

Deno.test("Matomo: each action of a visit across a change of clocks has the time of its own clock", async () => {
  const aheadAt = (seconds: number) => seconds >= SPRING && seconds < AUTUMN ? 7200 : 3600;
  const visitOf = (times: readonly number[]) =>
    matomoVisit({
      firstActionTimestamp: times[0],
      lastActionTimestamp: times.at(-1)! + 2,
      actionDetails: times.map((seconds, i) => ({
        type: "action",
        url: "/",
        pageId: `${i}`,
        timestamp: seconds + aheadAt(seconds),
      })),
    });
  const timesOf = async (visit: ReturnType<typeof matomoVisit>) =>
    (await mapped(MATOMO, visit)).map((event) => event!.timestamp! as number / 1000);
  for (const change of [SPRING, AUTUMN]) {
    for (
      const minutes of [[-20, -10, 5, 12], [-1, 0], [-25, 3, 3, 20], [-61, -31, 9], [-40, -20, -5]]
    ) {
      const times = minutes.map((minute) => change + 60 * minute);
      assert.deepEqual(await timesOf(visitOf(times)), times, `${minutes}`);
    }
  }
  // The visit's last sign of life comes an hour after its last action; actions are out of order.
  const quiet = [SPRING + 86_400, SPRING + 86_460];
  assert.deepEqual(
    await timesOf({ ...visitOf(quiet), lastActionTimestamp: quiet[1]! + 3600 }),
    quiet,
  );
  const back = [AUTUMN - 600, AUTUMN - 1200, AUTUMN + 600];
  const shown = (await timesOf(visitOf(back))).slice(0, 2);
  assert.deepEqual(shown, back.slice(0, 2));
  // Out of order, with a late last sign of life, far from a change of clocks.
  const summer = [100, 160, 159, 400].map((seconds) => SPRING + 90 * 86_400 + seconds);
  const late = { ...visitOf(summer), lastActionTimestamp: summer.at(-1)! + 900 };
  assert.deepEqual(await timesOf(late), summer);
  // Time and memory are those of the number of actions: a list for each would be 3.2 GB.
  const many = Array.from({ length: 20_000 }, (_, i) => SPRING - 10_000 + i);
  assert.deepEqual(await timesOf(visitOf(many)), many);
});
