import assert from "node:assert/strict";
import { INSIGHT_SHOWN_LENGTH_MAX } from "../../../src/limits.ts";
import type { Dimension } from "../../../src/reports/insights/insight_candidates.ts";
import type { Finding, Metric } from "../../../src/reports/insights/insight_findings.ts";
import { sentenceOf } from "../../../src/reports/insights/insight_sentences.ts";

function findingOf(
  metric: Metric,
  dimension: Dimension | null,
  value: string | null = null,
  figures: Partial<Finding> = {},
): Finding {
  return {
    kind: dimension === null ? "total_change" : "value_change",
    metric,
    goal: metric === "conversions" ? { title: "Sign up" } as Finding["goal"] : null,
    dimension,
    value,
    current: 138,
    previous: 100,
    change: 0.38,
    weekdays: { current: 138, expected: 100, change: 0.38 },
    contribution: null,
    explains: false,
    pValue: 0,
    adjustedPValue: 0,
    score: 1,
    dispersion: { factor: 1, degreesOfFreedom: 21 },
    clusters: 1,
    excessOfDays: [],
    ...figures,
  };
}

const subjectOf = (finding: Finding) => {
  const [, subject] = /^(.*) rose /.exec(sentenceOf(finding, "before"))!;
  return subject;
};

Deno.test("sentences: whoever it was, without an echo", () => {
  const visitors = (dimension: Dimension, value: string | null) =>
    subjectOf(findingOf("visitors", dimension, value));
  assert.equal(subjectOf(findingOf("visitors", null)), "Visitors");
  assert.equal(visitors("channel", "Email"), "Email visitors");
  assert.equal(visitors("channel", "<b>"), "Visitors of the channel “<b>”");
  assert.equal(visitors("source", "news"), "Visitors from “news”");
  assert.equal(visitors("source", null), "Visitors without a source");
  assert.equal(visitors("campaign", "spring"), "Visitors by the campaign “spring”");
  assert.equal(visitors("campaign", null), "Untagged visitors");
  assert.equal(visitors("entryPath", "/a"), "Visitors by the entry page “/a”");
  assert.equal(visitors("country", "DE"), "Visitors from Germany");
  assert.equal(visitors("country", "Ö"), "Visitors from “Ö”");
  assert.equal(visitors("country", null), "Visitors from unknown countries");
  assert.equal(visitors("device", "mobile"), "Mobile visitors");
  assert.equal(visitors("device", "other"), "Visitors on other devices");
  assert.equal(visitors("browser", "Chrome"), "Visitors with “Chrome”");
});

Deno.test("sentences: every metric, and goals", () => {
  assert.equal(subjectOf(findingOf("sessions", "campaign")), "Untagged visits");
  assert.equal(subjectOf(findingOf("pageviews", "source", "news")), "Page views from “news”");
  assert.equal(subjectOf(findingOf("events", "channel", "Direct")), "Direct events");
  assert.equal(subjectOf(findingOf("bounceRate", null)), "The bounce rate");
  assert.equal(
    subjectOf(findingOf("bounceRate", "channel", "Email")),
    "The bounce rate of Email visitors",
  );
  assert.equal(subjectOf(findingOf("conversions", null)), "Conversions of “Sign up”");
  assert.equal(
    subjectOf(findingOf("conversions", "campaign")),
    "Conversions of “Sign up” by untagged visitors",
  );
  assert.equal(
    subjectOf(findingOf("conversions", "entryPath", "/a")),
    "Conversions of “Sign up” by the entry page “/a”",
  );
});

Deno.test("sentences: what explains a total, what is new and what is gone", () => {
  const news = findingOf("visitors", "source", "news", { contribution: 0.894 });
  assert.equal(
    sentenceOf(findingOf("visitors", null), "the day before", news),
    "Visitors rose 38% to 138 (from 100) against the day before; visitors from “news” account for 89% of it.",
  );
  assert.equal(
    sentenceOf(news, "the day before"),
    "Visitors from “news” rose 38% to 138 (from 100) against the day before, 89% of the change in total.",
  );
  const none = { kind: "new_value", previous: 0, change: null } as const;
  assert.equal(
    sentenceOf(findingOf("visitors", "channel", "Email", none), "the day before"),
    "Email visitors are new: 138, against none in the day before and on the same weekdays earlier.",
  );
  const gone = { kind: "vanished_value", current: 0, change: -1 } as const;
  assert.equal(
    sentenceOf(findingOf("visitors", "channel", "Email", gone), "the day before"),
    "Email visitors are gone: none, against 100 in the day before.",
  );
});

Deno.test("sentences: rates rise and fall in points", () => {
  const rate = (current: number, previous: number) =>
    sentenceOf(findingOf("bounceRate", null, null, { current, previous }), "the previous 7 days");
  assert.equal(
    rate(0.344, 0.3),
    "The bounce rate rose 4.4 points, from 30.0% to 34.4%, against the previous 7 days.",
  );
  assert.equal(
    rate(0.2, 1),
    "The bounce rate fell 80.0 points, from 100.0% to 20.0%, against the previous 7 days.",
  );
  const mobile = { current: 0.344, previous: 0.3, contribution: 0.5 };
  assert.equal(
    sentenceOf(findingOf("bounceRate", "device", "mobile", mobile), "the day before"),
    "The bounce rate of mobile visitors rose 4.4 points, from 30.0% to 34.4%, against the day before, 50% of the change in total.",
  );
});

Deno.test("sentences: text from events is shortened, on one line, and does not reverse the direction", () => {
  const of = (length: number) => subjectOf(findingOf("visitors", "source", "x".repeat(length)));
  assert.equal(
    of(INSIGHT_SHOWN_LENGTH_MAX),
    `Visitors from “${"x".repeat(INSIGHT_SHOWN_LENGTH_MAX)}”`,
  );
  assert.equal(
    of(INSIGHT_SHOWN_LENGTH_MAX + 1),
    `Visitors from “${"x".repeat(INSIGHT_SHOWN_LENGTH_MAX - 1)}…”`,
  );
  assert.equal(
    subjectOf(findingOf("visitors", "source", "a\u202e\n”b")),
    "Visitors from “a 'b”",
  );
});

Deno.test("sentences: a path has its letters, and is shortened by them", () => {
  const of = (value: string) => subjectOf(findingOf("visitors", "entryPath", value));
  assert.equal(of("/caf%C3%A9/%E2%80%9Ca%20b"), "Visitors by the entry page “/café/'a%20b”");
  const most = "%C3%A9".repeat(INSIGHT_SHOWN_LENGTH_MAX - 1);
  assert.equal(of(`/${most}`), `Visitors by the entry page “/${decodeURI(most)}”`);
  const cut = decodeURI(most).slice(1);
  assert.equal(of(`/${most}%C3%A9`), `Visitors by the entry page “/${cut}…”`);
  assert.equal(subjectOf(findingOf("visitors", "source", "%C3%A9")), "Visitors from “%C3%A9”");
});
