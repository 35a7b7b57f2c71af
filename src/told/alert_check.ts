/** Looks whether what an alert waits for holds, and says it with its number. */

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
import { SILENCE_REMEMBERED_MS, UNUSUAL_WEEKS } from "./told_limits.ts";
import type { ToldReads } from "./told_reads.ts";
import { judge } from "./unusual.ts";
import type { ToldPlace } from "./view_link.ts";

/** One thing that can be told. */
export interface Noticed {
  /** What tells it from others that the same alert notices. */
  readonly key: string;
  /** A sentence with its number. */
  readonly lead: string;
}

/** What a look came to. */
export interface Look {
  /** What holds now; empty: all is well. */
  readonly noticed: readonly Noticed[];
  /**
   * False: whether it holds cannot be told, as of a rate of nothing, or of a fall while events wait to be
   * counted: all stays as it was.
   */
  readonly isKnown: boolean;
  /** What was looked at, in a sentence: told by a test where nothing was noticed. */
  readonly state: string;
  /** The same, where it held before; null: that is never told. */
  readonly over: string | null;
  readonly figures: readonly Figure[];
  readonly span: AskedSpan;
  readonly definition: string;
  readonly place: ToldPlace;
}

interface Looking {
  readonly reads: ToldReads;
  readonly project: Project;
  readonly nowMs: number;
}

type Cause<K extends AlertCause["kind"]> = Extract<AlertCause, { kind: K }>;

const MINUTE_MS = 60_000;
const ONE = "one";
/** Behind the point of a bound. */
const BOUND_DIGITS = 4;

const known = ({ value }: Counted) => value !== null;

async function lookThreshold(
  { reads, project, nowMs }: Looking,
  { question, above, below, over }: Cause<"threshold">,
): Promise<Look> {
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
  // What reads like its bound is told as exactly.
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

async function lookUnusual(
  { reads, project, nowMs }: Looking,
  { question, direction }: Cause<"unusual">,
): Promise<Look> {
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
  // Weeks before the first that has any are those of before there was anything to count.
  while (before.at(-1) === 0) before.pop();
  const judged = judge(value ?? 0, before, direction);
  const expected = judged?.expected ?? null;
  const usual = expected === null
    ? "there are not enough weeks before to say what is usual"
    : `the same 24 hours of the ${before.length} weeks before had ${
      shownValue(Math.round(10 * expected) / 10, "amount")
    } on average`;
  const said = `${questionName(question)}: ${shownValue(value, "count")} in 24 hours; ${usual}.`;
  const moved = (value ?? 0) > (expected ?? 0) ? "up" : "down";
  const isUnusual = judged?.isUnusual === true;
  const isKnown = known(found) && (!isBehind || (isUnusual && moved === "up"));
  return {
    // A drop after a spike is another thing to tell.
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

async function lookSilence(
  { reads, project, nowMs }: Looking,
  { minutes, match }: Cause<"silence">,
): Promise<Look> {
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
  // What waits to be counted is no silence.
  const isSilent = value === 0 && !isBehind;
  const wide = { fromMs: nowMs - SILENCE_REMEMBERED_MS, toMs: nowMs, timezone };
  const hadAny = isSilent && ((await count(reads, project, question, wide)).value ?? 0) > 0;
  const name = match === null ? "" : ` ${plainLine(match.name)}`;
  const said = `${counted(value ?? 0, "event")}${name} in the last ${minutes} minutes.`;
  return {
    noticed: hadAny ? [{ key: ONE, lead: said }] : [],
    // Silence that is as old as what is remembered is silence still.
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

async function lookFindings(
  { reads, project, nowMs }: Looking,
  { score, filters, segment }: Cause<"finding">,
): Promise<Look> {
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
  const best = reply.findings[0];
  return {
    noticed: above.map((finding) => ({ key: keyOf(finding), lead: plainLine(finding.text, 400) })),
    isKnown: true,
    state: best === undefined
      ? "There is no finding in the last seven days."
      : `The first finding of the last seven days: ${plainLine(best.text, 400)}`,
    over: null,
    figures: [],
    span: { fromMs: Date.parse(query.from), toMs: Date.parse(query.to), timezone },
    definition: query.semantics,
    place: { path: "/v1/insights", params, query },
  };
}

/** Looks at what an alert waits for. Throws Problem, as the reads do. */
export async function look(looking: Looking, cause: AlertCause): Promise<Look> {
  switch (cause.kind) {
    case "threshold":
      return await lookThreshold(looking, cause);
    case "unusual":
      return await lookUnusual(looking, cause);
    case "silence":
      return await lookSilence(looking, cause);
    case "finding":
      return await lookFindings(looking, cause);
  }
}
