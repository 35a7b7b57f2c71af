/** Checks whether an alert's condition holds, and describes the result in a sentence with its number. */

import type { Project } from "../auth/projects.ts";
import { INSIGHT_CAUSES_MAX } from "../limits.ts";
import { windowMs } from "../query/window.ts";
import { counted } from "../number_words.ts";
import type { AlertCause } from "./alert_definition.ts";
import {
  type AlertQuestion,
  type AskedSpan,
  count,
  type Counted,
  figureOf,
  questionName,
  unitOf,
} from "./alert_question.ts";
import { type Figure, plainLine, shownValue } from "./message.ts";
import { SILENCE_REMEMBERED_MS, UNUSUAL_WEEKS } from "./notification_limits.ts";
import type { NotificationReads } from "./notification_reads.ts";
import { compareWithWeeks } from "./unusual.ts";
import type { ViewPlace } from "./view_link.ts";

/** An occurrence of an alert's condition. */
export interface Noticed {
  /** Distinguishes it from others of the same alert. */
  readonly key: string;
  /** A sentence with its number. */
  readonly lead: string;
}

/** The result of a check. */
export interface CheckResult {
  /** The occurrences; empty: the condition does not hold. */
  readonly noticed: readonly Noticed[];
  /**
   * False: it is unknown whether the condition holds, for example for a rate of no visits, or for a fall while
   * events are pending. The alert's state then stays.
   */
  readonly isKnown: boolean;
  /** The result in a sentence, for a test while the condition does not hold. */
  readonly state: string;
  /** The same for the message that the condition has ended; null: there is no such message. */
  readonly over: string | null;
  readonly figures: readonly Figure[];
  readonly span: AskedSpan;
  readonly definition: string;
  readonly place: ViewPlace;
}

interface Checking {
  readonly reads: NotificationReads;
  readonly project: Project;
  readonly nowMs: number;
}

type Cause<K extends AlertCause["kind"]> = Extract<AlertCause, { kind: K }>;

const MINUTE_MS = 60_000;
const ONE = "one";
/** The most decimals of a bound that are shown. */
const BOUND_DIGITS = 4;

const known = ({ value }: Counted) => value !== null;

async function checkThreshold(
  { reads, project, nowMs }: Checking,
  { question, above, below, over }: Cause<"threshold">,
): Promise<CheckResult> {
  const span = { fromMs: nowMs - windowMs(over)!, toMs: nowMs, timezone: project.timezone };
  const isBehind = await reads.isBehind(project, span);
  const found = await count(reads, project, question, span);
  const { value, currency, semantics, place } = found;
  const shown = (amount: number | null, digits?: number) =>
    shownValue(amount, unitOf(question), currency, digits);
  const bound = above ?? below!;
  const side = above === undefined ? "below" : "above";
  const isHigh = value !== null && (above === undefined ? value >= bound : value > bound);
  const isKnown = known(found) && (isHigh || !isBehind);
  const holds = isKnown && (above === undefined) !== isHigh;
  // A value that would read like its bound is shown as exactly.
  const digits = shown(value) === shown(bound) ? BOUND_DIGITS : undefined;
  const said = `${questionName(question)}: ${shown(value, digits)} in the last ${over}`;
  const limit = `${side} ${shown(bound, BOUND_DIGITS)}.`;
  return {
    noticed: holds ? [{ key: ONE, lead: `${said}, ${limit}` }] : [],
    isKnown,
    state: `${said}; it is told when that is ${limit}`,
    over: `${said}, no longer ${limit}`,
    figures: [figureOf(question, found, null)],
    definition: semantics,
    span,
    place,
  };
}

/** The 24 hours that end with the last whole hour, `weeks` weeks ago by the local clock. */
function dayBefore(nowMs: number, weeks: number, timezone: string): AskedSpan {
  const end = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone)
    .round({ smallestUnit: "hour", roundingMode: "floor" }).subtract({ weeks });
  const toMs = end.epochMilliseconds;
  return { fromMs: end.subtract({ days: 1 }).epochMilliseconds, toMs, timezone };
}

async function checkUnusual(
  { reads, project, nowMs }: Checking,
  { question, direction }: Cause<"unusual">,
): Promise<CheckResult> {
  const { timezone } = project;
  const span = dayBefore(nowMs, 0, timezone);
  const isBehind = await reads.isBehind(project, span);
  const found = await count(reads, project, question, span);
  const { value, semantics, place } = found;
  const before: number[] = [];
  for (let week = 1; week <= UNUSUAL_WEEKS; week++) {
    const then = await count(reads, project, question, dayBefore(nowMs, week, timezone));
    before.push(then.value ?? 0);
  }
  // The weeks before the first event do not count.
  while (before.at(-1) === 0) before.pop();
  const comparison = compareWithWeeks(value ?? 0, before, direction);
  const expected = comparison?.expected ?? null;
  const usual = expected === null
    ? "there are not enough weeks before to say what is usual"
    : `the same 24 hours of the ${before.length} weeks before had ${
      shownValue(Math.round(10 * expected) / 10, "amount")
    } on average`;
  const said = `${questionName(question)}: ${shownValue(value, "count")} in 24 hours; ${usual}.`;
  const moved = (value ?? 0) > (expected ?? 0) ? "up" : "down";
  const isUnusual = comparison?.isUnusual === true;
  const isKnown = known(found) && (!isBehind || (isUnusual && moved === "up"));
  return {
    // A drop after a spike is another occurrence.
    noticed: isUnusual && isKnown ? [{ key: moved, lead: said }] : [],
    isKnown,
    state: said,
    over: said,
    figures: [figureOf(question, found, expected)],
    definition: `Compared with the mean of the same 24 hours of up to ${UNUSUAL_WEEKS} weeks ` +
      `before, by a t-test with their own variance, at least that of chance. ${semantics}`,
    span,
    place,
  };
}

async function checkSilence(
  { reads, project, nowMs }: Checking,
  { minutes, match }: Cause<"silence">,
): Promise<CheckResult> {
  const { timezone } = project;
  const question: AlertQuestion = {
    ...match === null ? { metric: "events" } : { match },
    filters: [],
    segment: null,
  };
  const span = { fromMs: nowMs - minutes * MINUTE_MS, toMs: nowMs, timezone };
  const isBehind = await reads.isBehind(project, span);
  const found = await count(reads, project, question, span);
  const { value, semantics, place } = found;
  // Pending events are no silence.
  const isSilent = value === 0 && !isBehind;
  const wide = { fromMs: nowMs - SILENCE_REMEMBERED_MS, toMs: nowMs, timezone };
  const hadAny = isSilent && ((await count(reads, project, question, wide)).value ?? 0) > 0;
  const name = match === null ? "" : ` ${plainLine(match.name)}`;
  const said = `${counted(value ?? 0, "event")}${name} in the last ${minutes} minutes.`;
  return {
    noticed: hadAny ? [{ key: ONE, lead: said }] : [],
    // After SILENCE_REMEMBERED_MS of silence, the state stays as it was.
    isKnown: hadAny || (value ?? 0) > 0,
    state: said,
    over: said,
    figures: [{ ...figureOf(question, found, null), name: "Events" }],
    definition: semantics,
    span,
    place,
  };
}

interface Finding {
  readonly metric: string;
  readonly goal?: string;
  readonly dimension?: string;
  readonly value?: string | null;
  readonly score: number;
  readonly text: string;
}

async function checkFindings(
  { reads, project, nowMs }: Checking,
  { score, filters, segment }: Cause<"finding">,
): Promise<CheckResult> {
  const { timezone } = project;
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone)
    .toPlainDate();
  const [from, to] = [today.subtract({ days: 7 }), today.subtract({ days: 1 })];
  const params = {
    from: from.toString(),
    to: to.toString(),
    limit: String(INSIGHT_CAUSES_MAX),
    ...filters.length === 0 ? {} : { filters: JSON.stringify(filters) },
    ...segment === null ? {} : { segment },
  };
  const reply = await reads.read<{ findings: Finding[] }>(project, "insights", params);
  const above = reply.findings.filter((finding) => finding.score > score);
  const keyOf = ({ metric, goal, dimension, value }: Finding) =>
    JSON.stringify([metric, goal ?? null, dimension ?? null, value ?? null]);
  const { query } = reply;
  const said = ({ text }: Finding) => plainLine(text, 400);
  const best = reply.findings[0];
  return {
    noticed: above.map((finding) => ({ key: keyOf(finding), lead: said(finding) })),
    isKnown: true,
    state: best === undefined
      ? "There is no finding in the last seven days."
      : `The first finding of the last seven days: ${said(best)}`,
    over: null,
    figures: [],
    span: { fromMs: Date.parse(query.from), toMs: Date.parse(query.to), timezone },
    definition: query.semantics,
    place: { path: "/v1/insights", params, query },
  };
}

/** Checks an alert's condition now. Throws Problem, as the reads do. */
export async function checkAlert(checking: Checking, cause: AlertCause): Promise<CheckResult> {
  switch (cause.kind) {
    case "threshold":
      return await checkThreshold(checking, cause);
    case "unusual":
      return await checkUnusual(checking, cause);
    case "silence":
      return await checkSilence(checking, cause);
    case "finding":
      return await checkFindings(checking, cause);
  }
}
