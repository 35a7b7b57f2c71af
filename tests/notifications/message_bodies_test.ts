import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";
import { mailHtml } from "../../src/notifications/mail_html.ts";
import { mailText } from "../../src/notifications/mail_text.ts";
import {
  type Message,
  plainLine,
  rangeWords,
  type Section,
  shownChange,
  shownValue,
  type Unit,
} from "../../src/notifications/message.ts";
import { chartPng } from "../../src/notifications/png_chart.ts";
import { WEBHOOK_BODY_BYTES_MAX } from "../../src/notifications/notification_limits.ts";
import { webhookBody } from "../../src/notifications/webhook_bodies.ts";
import { signature } from "../../src/notifications/webhook_signature.ts";

const HOSTILE = "<!channel> @everyone *bold* [x](https://evil.example) <script>\"&' `c`";
const NOW = Date.parse("2026-11-23T08:00:00Z");

function section(change: Partial<Section> = {}): Section {
  return {
    project: "prj_shop",
    name: HOSTILE,
    range: { from: "2026-11-16T00:00:00Z", to: "2026-11-23T00:00:00Z", timezone: "UTC" },
    when: "16 November 2026 to 22 November 2026 (UTC)",
    lead: "1,204 visitors, +38% against the week before.",
    figures: [
      { name: "Visitors", value: 1204, unit: "count", change: 0.38, points: null },
      { name: "Bounce rate", value: 0.44, unit: "rate", change: 0.1, points: 0.044 },
    ],
    chart: { title: "Visitors by day", values: [3, 5, 4], first: "Mon", last: "Wed" },
    rankings: [{ title: "Pages", counted: "Visitors", rows: [{ name: HOSTILE, value: 7 }] }],
    findings: [`Visitors with page “${HOSTILE}” rose.`],
    definition: "Visitors are distinct actors.",
    url: "https://stats.example/?project=prj_shop",
    ...change,
  };
}

const MESSAGE: Message = {
  kind: "digest",
  slug: "week",
  title: HOSTILE,
  subject: `${HOSTILE}: 1,204 visitors (+38%)`,
  isTest: false,
  sections: [section()],
};

/** Every text of a document. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

Deno.test("bodies: Slack gets data only as plain text, and a fallback without mentions", () => {
  const body = JSON.parse(webhookBody(MESSAGE, "slack", NOW));
  assert.ok(!body.text.includes("<"), body.text);
  const types = body.blocks.map(({ type }: { type: string }) => type);
  assert.deepEqual(types, ["header", "section", "actions"]);
  for (const { text } of body.blocks.slice(0, 2)) assert.equal(text.type, "plain_text");
  assert.equal(body.link_names, false);
  assert.match(JSON.stringify(body), /1,204 visitors/);
  assert.equal(body.blocks[2].elements[0].url, MESSAGE.sections[0]!.url);
});

Deno.test("bodies: Discord mentions nobody and finds no markup in data", () => {
  const body = JSON.parse(webhookBody(MESSAGE, "discord", NOW));
  assert.deepEqual(body.allowed_mentions, { parse: [] });
  for (const text of [body.content, body.embeds[0].title, body.embeds[0].description]) {
    assert.ok(!/(?<!\\)[*_~`|<@[\]]/.test(text), text);
    assert.ok(!text.includes("https://"), "no link of it");
  }
  assert.match(body.embeds[0].description, /1,204 visitors/);
});

Deno.test("bodies: Teams gets text runs, which have no markup", () => {
  const body = JSON.parse(webhookBody(MESSAGE, "teams", NOW));
  const card = body.attachments[0].content;
  assert.equal(card.type, "AdaptiveCard");
  for (const { type, inlines } of card.body) {
    assert.equal(type, "RichTextBlock");
    assert.deepEqual(inlines.map((inline: { type: string }) => inline.type), ["TextRun"]);
  }
  assert.ok(textsOf(card.body).some((text) => text.includes("1,204 visitors")));
});

Deno.test("bodies: the standard one has a type, the time and every number", () => {
  const { type, timestamp, data } = JSON.parse(webhookBody(MESSAGE, "standard", NOW));
  assert.deepEqual([type, timestamp], ["digest.made", "2026-11-23T08:00:00.000Z"]);
  assert.equal(data.sections[0].figures[0].value, 1204);
  assert.equal(data.sections[0].definition, "Visitors are distinct actors.");
  assert.deepEqual(data.sections[0].range, MESSAGE.sections[0]!.range);
});

Deno.test("bodies: none is longer than its bound; the leading sentences stay", () => {
  const rows = Array.from({ length: 5 }, () => ({ name: "ö".repeat(120), value: 1 }));
  const many = Array.from(
    { length: 10 },
    () =>
      section({
        rankings: [{ title: "Pages", counted: "Visitors", rows }],
        definition: "d".repeat(3_000),
      }),
  );
  for (const format of ["standard", "slack", "discord", "teams"] as const) {
    const body = webhookBody({ ...MESSAGE, sections: many }, format, NOW);
    const bytes = new TextEncoder().encode(body).length;
    assert.ok(bytes <= WEBHOOK_BODY_BYTES_MAX, `${format}: ${bytes}`);
    assert.ok(body.includes("visitors"), format);
  }
  const whole = webhookBody(MESSAGE, "standard", NOW);
  assert.ok(whole.includes("Pages"), "what fits is whole");
});

Deno.test("mail: every text is escaped, and each number, definition, range and link is in it", () => {
  const html = mailHtml(MESSAGE, "https://stats.example/v1/unsubscribe?token=a&b");
  assert.ok(!html.includes("<script>") && !html.includes("<!channel>"));
  const wanted = [
    "1,204",
    "+38%",
    "+4.4 pts",
    "Visitors are distinct actors.",
    "16 November 2026",
  ];
  for (const told of wanted) {
    assert.ok(html.includes(told), told);
  }
  assert.ok(html.includes('href="https://stats.example/?project=prj_shop"'));
  assert.ok(html.includes('src="cid:chart-0@footfall"'));
  assert.match(html, /alt="Visitors by day from Mon to Wed: between 3 and 5, 4 at the end\."/);
  assert.match(html, /prefers-color-scheme: dark/);
  const text = mailText(MESSAGE, "https://stats.example/u");
  for (
    const told of ["1,204", "+38%", "Visitors are distinct actors.", "https://stats.example/u"]
  ) {
    assert.ok(text.includes(told), told);
  }
});

Deno.test("bodies: an amount of money has its currency, in every kind of message", () => {
  const worth = {
    ...{ name: "Value of the goal buy", value: 12.5, unit: "amount" as const, currency: "EUR" },
    ...{ change: 0.25, points: 2.5 },
  };
  const message = { ...MESSAGE, sections: [section({ figures: [worth] })] };
  const shown = "Value of the goal buy: €12.50 (+25%)";
  assert.ok(mailText(message, "https://stats.example/u").includes(shown));
  assert.match(mailHtml(message, "https://stats.example/u"), />€12\.50</);
  const bodyOf = (format: "slack" | "teams" | "standard") =>
    JSON.parse(webhookBody(message, format, NOW));
  for (const format of ["slack", "teams"] as const) {
    assert.ok(textsOf(bodyOf(format)).join("\n").includes(shown), format);
  }
  assert.deepEqual(bodyOf("standard").data.sections[0].figures, [worth]);
});

Deno.test("words: numbers, changes and ranges as people read them", () => {
  assert.equal(shownValue(0.4376, "rate"), "43.8%");
  const seconds = [59.64, 59.96, 95, 119.6, 3599.7].map((value) => shownValue(value, "seconds"));
  assert.deepEqual(seconds, ["59.6 s", "1 min 0 s", "1 min 35 s", "2 min 0 s", "60 min 0 s"]);
  assert.equal(shownValue(null, "rate"), "none");
  assert.equal(shownValue(null, "count"), "not known");
  assert.deepEqual([
    shownValue(12.5, "amount"),
    shownValue(1234.5, "amount", "EUR"),
    shownValue(0.4, "amount", "JPY"),
    shownValue(-3, "amount", "USD"),
  ], ["12.5", "€1,234.50", "¥0", "-$3.00"]);
  const exact = (value: number, unit: Unit, currency?: string) =>
    shownValue(value, unit, currency, 4);
  assert.deepEqual([
    exact(12.34567, "amount", "EUR"),
    exact(12, "amount", "EUR"),
    exact(0.4, "amount", "JPY"),
    exact(0.0005, "rate"),
    exact(59.96, "seconds"),
    exact(95.25, "seconds"),
    exact(0.25, "milliseconds"),
    exact(2512.5, "milliseconds"),
    exact(5.5, "count"),
  ], [
    "€12.3457",
    "€12.00",
    "¥0.4",
    "0.05%",
    "59.96 s",
    "1 min 35.25 s",
    "0.25 ms",
    "2.5125 s",
    "5.5",
  ]);
  assert.equal(shownValue(184, "milliseconds"), "184 ms");
  assert.equal(shownValue(2512, "milliseconds"), "2.51 s");
  const changeOf = (unit: Unit, change: number | null, points: number | null) =>
    shownChange({ name: "x", value: 1, unit, change, points });
  assert.equal(changeOf("count", 0.2, 20), "+20%");
  assert.equal(changeOf("count", -0.2, -20), "−20%");
  // 40% after 50%: ten points less, not a fifth. 4.4% after none: points, where no fraction is.
  assert.equal(changeOf("rate", -0.2, -0.1), "−10 pts");
  assert.equal(changeOf("rate", null, 0.044), "+4.4 pts");
  assert.equal(changeOf("rate", 0.2, null), null);
  assert.equal(changeOf("count", null, 4), null);
  for (const unit of ["seconds", "milliseconds", "amount"] as const) {
    assert.equal(changeOf(unit, 0.25, 5), "+25%", unit);
  }
  const [from, to] = [Date.parse("2026-03-28T23:00:00Z"), Date.parse("2026-03-29T22:00:00Z")];
  assert.equal(rangeWords(from, to, "Europe/Berlin"), "29 March 2026 (Europe/Berlin)");
  assert.equal(
    rangeWords(from + 60_000, to, "Europe/Berlin"),
    "29 March 2026, 00:01 to 30 March 2026, 00:00 (Europe/Berlin)",
  );
  assert.equal(plainLine("a\u202eb\u0000c\n d"), "a b c d");
  assert.equal([...plainLine("😀".repeat(300), 10)].length, 10);
});

/** The pixels of a PNG as the program makes them: a number of the palette each. */
function pixelsOf(png: Uint8Array): { widthPx: number; rows: Uint8Array[] } {
  const view = new DataView(png.buffer, png.byteOffset);
  assert.deepEqual([...png.subarray(1, 4)], [0x50, 0x4e, 0x47]);
  const [widthPx, heightPx] = [view.getUint32(16), view.getUint32(20)];
  let at = 8;
  let data = new Uint8Array();
  while (at < png.length) {
    const length = view.getUint32(at);
    const type = new TextDecoder().decode(png.subarray(at + 4, at + 8));
    if (type === "IDAT") data = new Uint8Array(inflateSync(png.subarray(at + 8, at + 8 + length)));
    at += length + 12;
  }
  const rows = Array.from(
    { length: heightPx },
    (_, y) => data.subarray(y * (widthPx + 1) + 1, (y + 1) * (widthPx + 1)),
  );
  return { widthPx, rows };
}

Deno.test("chart: bars as high as their values, on a base line, with a transparent background", async () => {
  const png = await chartPng({ values: [0, 5, 10], widthPx: 90, heightPx: 46 });
  const { widthPx, rows } = pixelsOf(png);
  assert.equal(widthPx, 90);
  const heightAt = (x: number) => rows.filter((row) => row[x] === 1).length;
  assert.deepEqual([heightAt(15), heightAt(45), heightAt(75)], [0, 20, 40]);
  assert.equal(rows.at(-1)![0], 2, "the base line");
  assert.equal(rows[0]![0], 0, "nothing");
  const line = pixelsOf(
    await chartPng({ values: Array.from({ length: 744 }, (_, i) => i), widthPx: 90, heightPx: 46 }),
  );
  const top = (x: number) => line.rows.findIndex((row) => row[x] === 1);
  assert.ok(top(2) > top(45) && top(45) > top(88), "a line that rises");
  const empty = pixelsOf(await chartPng({ values: [], widthPx: 10, heightPx: 10 }));
  assert.ok(empty.rows.slice(0, 8).every((row) => row.every((pixel) => pixel === 0)));
});

Deno.test("signature: the same as by Web Crypto", async () => {
  const raw = crypto.getRandomValues(new Uint8Array(32));
  const [id, timestampS, body] = ["msg_1", 1_800_000_000, '{"a":"ü"}'];
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestampS}.${body}`);
  const expected = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)).toBase64();
  assert.equal(
    signature(`whsec_${raw.toBase64()}`, { id, timestampS, body }),
    `v1,${expected}`,
  );
});
