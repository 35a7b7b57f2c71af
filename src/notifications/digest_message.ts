import type { Project } from "../auth/projects.ts";
import { counted } from "../number_words.ts";
import { Problem } from "../problem.ts";
import type { Warning } from "../query/warnings.ts";
import { isPathField, readablePath } from "../readable_path.ts";
import {
  type AskedSpan,
  conditionWords,
  count,
  figureOf,
  type KpiTotals,
  questionName,
} from "./alert_question.ts";
import type { DigestDefinition } from "./digest_definition.ts";
import {
  type Chart,
  type Figure,
  type Message,
  plainLine,
  rangeWords,
  type Ranking,
  type Section,
  shownChange,
} from "./message.ts";
import { type DigestDays, digestDays, type Slot } from "./slots.ts";
import { DIGEST_FINDINGS, DIGEST_ROWS } from "./notification_limits.ts";
import type { NotificationReads, ReplyFrame } from "./notification_reads.ts";
import { viewLink } from "./view_link.ts";

interface Changes extends Omit<KpiTotals, "newVisitors" | "bounceRate"> {
  readonly bounceRatePoints: number | null;
}
interface KpiReply {
  readonly totals: KpiTotals;
  readonly change: Changes;
  readonly series: readonly { readonly label: string; readonly visitors: number | null }[];
}
interface RowsReply {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}
interface GoalsReply {
  readonly goals: readonly { readonly title: string; readonly uniqueConversions: number | null }[];
}
interface InsightsReply {
  readonly findings: readonly { readonly text: string }[];
}

type Params = Readonly<Record<string, string>>;

function figuresOf({ totals, change }: KpiReply): Figure[] {
  const counted = (name: string, value: number | null, moved: number | null): Figure => ({
    name,
    value,
    unit: "count",
    change: moved,
    points: null,
  });
  return [
    counted("Visitors", totals.visitors, change.visitors),
    counted("Visits", totals.sessions, change.sessions),
    counted("Page views", totals.pageviews, change.pageviews),
    {
      name: "Bounce rate",
      value: totals.bounceRate.value,
      unit: "rate",
      change: null,
      points: change.bounceRatePoints,
    },
    {
      name: "Median visit",
      value: totals.sessionDuration.medianSeconds,
      unit: "seconds",
      change: change.sessionDuration.medianSeconds,
      points: null,
    },
  ];
}

const startMs = (date: Temporal.PlainDate, timezone: string) =>
  date.toZonedDateTime(timezone).epochMilliseconds;

/** Days as instants. */
const spanOf = ({ from, to }: DigestDays, timezone: string): AskedSpan => ({
  fromMs: startMs(from, timezone),
  toMs: startMs(to.add({ days: 1 }), timezone),
  timezone,
});

/** Answers a digest's questions, with the change against the days before. */
async function askedFigures(
  reads: NotificationReads,
  project: Project,
  { questions, filters, segment }: DigestDefinition,
  [span, before]: readonly [AskedSpan, AskedSpan],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const question of questions) {
    const asked = {
      ...question,
      filters: [...filters, ...question.filters],
      segment: question.segment ?? segment,
    };
    const found = await count(reads, project, asked, span);
    const { value: previous } = await count(reads, project, asked, before);
    // The digest's own filters are shown once, not with each figure.
    figures.push({ ...figureOf(asked, found, previous), name: questionName(question) });
  }
  return figures;
}

/** A value as people read it: of a page, letters in place of their bytes. */
const shownName = (member: string, value: unknown) =>
  isPathField(member) ? readablePath(String(value)) : String(value);

function rankingOf(title: string, member: string, none: string, { rows }: RowsReply): Ranking {
  return {
    title,
    counted: "Visitors",
    rows: rows.slice(0, DIGEST_ROWS).map((row) => ({
      name: plainLine(shownName(member, row[member] ?? none)),
      value: Number(row["visitors"] ?? 0),
    })),
  };
}

function goalRanking({ goals }: GoalsReply): Ranking {
  const rows = goals.map(({ title, uniqueConversions }) => ({
    name: plainLine(title),
    value: uniqueConversions ?? 0,
  })).toSorted((a, b) => b.value - a.value);
  return { title: "Goals", counted: "Conversions", rows: rows.slice(0, DIGEST_ROWS) };
}

const PERIOD = { daily: "day", weekly: "week", monthly: "month" } as const;

/** Days imported from a product without visitors have no number of them. */
const visitorsWords = ({ value }: Figure) =>
  value === null ? "Visitors not known" : counted(value, "visitor");

function leadOf([visitors]: readonly Figure[], every: DigestDefinition["every"]): string {
  const change = shownChange(visitors!);
  const words = visitorsWords(visitors!);
  return change === null ? `${words}.` : `${words}, ${change} against the ${PERIOD[every]} before.`;
}

const NOT_COUNTED = " Not all events of these days, and of those before, could be counted yet.";

const datesOf = ({ from, to }: DigestDays) => ({ from: from.toString(), to: to.toString() });

/** Returns the parameters of all reads of one project. */
function paramsOf(
  { filters, segment }: DigestDefinition,
  days: DigestDays,
  timezone: string,
  project: Project,
): Params {
  return {
    ...datesOf(days),
    ...timezone === project.timezone ? {} : { timezone },
    ...filters.length === 0 ? {} : { filters: JSON.stringify(filters) },
    ...segment === null ? {} : { segment },
  };
}

/** Returns the top channels, pages and goals. */
async function rankingsOf(
  reads: NotificationReads,
  project: Project,
  params: Params,
): Promise<Ranking[]> {
  const limit = String(DIGEST_ROWS);
  const channels = await reads.read<RowsReply>(project, "acquisition", { ...params, limit });
  const pages = await reads.read<RowsReply>(project, "pages", { ...params, limit });
  const goals = await reads.read<GoalsReply>(project, "goals", { ...params, interval: "day" });
  const rankings = [
    rankingOf("Channels", "value", "none", channels),
    rankingOf("Pages", "path", "none", pages),
    goalRanking(goals),
  ];
  return rankings.filter(({ rows }) => rows.length > 0);
}

/** A digest at one of its times. */
interface DueDigest {
  readonly definition: DigestDefinition;
  readonly slot: Slot;
  /** The zone of the days of all its projects: in a project's own zone they may not be over yet. */
  readonly timezone: string;
  /** The dashboard's URL, without a slash at the end. */
  readonly address: string;
  readonly isTest: boolean;
  /** Whether it waits for events of its days that are not counted yet; if not, it is made without them. */
  readonly mayWait: boolean;
}

const notCounted = ({ name }: Project) =>
  new Problem(
    "overloaded",
    `Events of the days that it tells of are still being counted in ${plainLine(name)}. ` +
      "It is sent once they are; six hours after its time, without them.",
  );

/** Whether a reply by the hour leaves out imported days, which have no hours. */
const lacksImportedDays = ({ query }: ReplyFrame) =>
  (query["warnings"] as readonly Warning[] | undefined ?? []).some(({ code, parameter }) =>
    code === "imported_left_out" && parameter === "interval"
  );

/** Reads the key figures and their chart; by the day, without a chart, if a day of the range is imported. */
async function overviewOf(
  reads: NotificationReads,
  project: Project,
  every: DigestDefinition["every"],
  asked: Params,
): Promise<{ readonly kpis: KpiReply & ReplyFrame; readonly chart: Chart | null; asked: Params }> {
  const interval = every === "daily" ? "hour" : "day";
  const kpis = await reads.read<KpiReply>(project, "kpis", { ...asked, interval });
  if (lacksImportedDays(kpis)) {
    const byDay = { ...asked, interval: "day" };
    const whole = await reads.read<KpiReply>(project, "kpis", byDay);
    return { kpis: whole, chart: null, asked: byDay };
  }
  const { series } = kpis;
  const chart = {
    title: `Visitors by ${interval}`,
    values: series.map(({ visitors }) => visitors ?? 0),
    first: series[0]?.label ?? "",
    last: series.at(-1)?.label ?? "",
  };
  return { kpis, chart, asked };
}

/** Returns the section of one project. Its numbers are those of the view that it links to. */
async function sectionOf(
  reads: NotificationReads,
  project: Project,
  { definition, slot, timezone, address, isTest, mayWait }: DueDigest,
): Promise<Section> {
  const { every } = definition;
  const days = digestDays({ every }, slot, timezone);
  const before = digestDays({ every }, { date: days.from }, timezone);
  const spans = [spanOf(days, timezone), spanOf(before, timezone)] as const;
  // A mail cannot be corrected, so a digest waits until its days are counted; a test does not wait.
  const whole = { fromMs: spans[1].fromMs, toMs: spans[0].toMs };
  const isBehind = !isTest && await reads.isBehind(project, whole);
  if (isBehind && mayWait) throw notCounted(project);
  const params = paramsOf(definition, days, timezone, project);
  // For `previous`, a month would be compared with as many days, not with the month before.
  const compare = every === "monthly" ? JSON.stringify(datesOf(before)) : "previous";
  const overview = await overviewOf(reads, project, every, { ...params, compare });
  const { kpis, chart } = overview;
  const asked = await askedFigures(reads, project, definition, spans);
  const rankings = await rankingsOf(reads, project, params);
  const limit = String(DIGEST_FINDINGS);
  const { findings } = await reads.read<InsightsReply>(project, "insights", { ...params, limit });
  const figures = [...figuresOf(kpis), ...asked];
  const { query } = kpis;
  return {
    project: project.id,
    name: plainLine(project.name),
    range: { from: query.from, to: query.to, timezone },
    when: [
      rangeWords(Date.parse(query.from), Date.parse(query.to), timezone),
      conditionWords(definition.filters, definition.segment),
    ].filter(Boolean).join(", "),
    lead: leadOf(figures, every) + (isBehind ? NOT_COUNTED : ""),
    figures,
    chart,
    rankings,
    findings: findings.slice(0, DIGEST_FINDINGS).map(({ text }) => plainLine(text, 400)),
    definition: query.semantics,
    url: viewLink(address, { path: "/v1/kpis", params: overview.asked, query }),
  };
}

/** Returns a digest's message. Throws Problem, as the reads do, and while events of its days are pending. */
export async function digestMessage(
  reads: NotificationReads,
  { slug, projects, ...digest }: DueDigest & {
    readonly slug: string;
    readonly projects: readonly Project[];
  },
): Promise<Message> {
  const { definition: { title }, isTest } = digest;
  const sections: Section[] = [];
  // One after the other, since nobody waits for a digest, but people wait for other reads.
  for (const project of projects) {
    sections.push(await sectionOf(reads, project, digest));
  }
  const names = sections.map(({ name, figures: [visitors] }) => {
    const change = shownChange(visitors!);
    const count = `${name}: ${visitorsWords(visitors!)}`;
    return change === null ? count : `${count} (${change})`;
  });
  const more = names.length > 2 ? ` and ${names.length - 2} more` : "";
  const subject = `${isTest ? "Test: " : ""}${names.slice(0, 2).join(", ")}${more}`;
  return { kind: "digest", slug, title, subject, isTest, sections };
}
