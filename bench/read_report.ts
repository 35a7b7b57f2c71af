import type { Pace } from "./read_history.ts";
import type { StatementPlan } from "./read_plans.ts";
import { nameOfSet, type ReadSet } from "./read_requests.ts";
import type { MeasuredSet } from "./read_server.ts";
import { type TableSize, totalBytes } from "./read_sizes.ts";

export interface ExplainedSet {
  readonly set: ReadSet;
  readonly query: string;
  readonly plans: readonly StatementPlan[];
}

/** What was measured on one history. */
export interface HistoryReport {
  /** Events as stored. */
  readonly events: number;
  readonly actors: number;
  readonly days: number;
  /** Null: it was stored by an earlier run. */
  readonly stored: Pace | null;
  readonly projected: Pace | null;
  readonly merged: Pace;
  readonly sizes: readonly TableSize[];
  readonly sets: readonly MeasuredSet[];
  readonly explained: readonly ExplainedSet[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
  readonly serverPeakMemoryBytes: number;
}

export interface ReadReport {
  readonly machine: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly histories: readonly HistoryReport[];
  readonly loadAverage: readonly [before: number, after: number];
}

const count = (value: number): string => Math.round(value).toLocaleString("en");
const mebibytes = (bytes: number): string => `${count(bytes / 2 ** 20)} MiB`;
const ms = (value: number): string => value.toFixed(value < 100 ? 1 : 0);

/** The smallest value that at least this share of `values` does not exceed; NaN of none. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

const p50Of = ({ reads }: MeasuredSet): number => percentile(reads.map((read) => read.ms), 0.5);

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0))
  );
  const last = headings.length - 1;
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => {
      if (i === 0) return cell.padEnd(widths[0]!);
      return i === last && headings[last] === "slowest" ? cell : cell.padStart(widths[i]!);
    }).join("  ").trimEnd();
  return [headings, ...rows].map(line);
}

/** What of a query tells it from its neighbours. */
function shortQuery(query: string): string {
  const parameters = [...new URLSearchParams(query)]
    .filter(([name]) => !["project", "steps"].includes(name));
  return parameters.map(([name, value]) => `${name}=${value}`).join(" ").slice(0, 110);
}

/** One row of the table; how many rows were read only where some replies of the report tell. */
function setRow({ set, reads, refusals }: MeasuredSet, tellsRows: boolean): string[] {
  const times = reads.map((read) => read.ms);
  const refused = Object.entries(refusals).map(([what, often]) => `${often} × ${what}`).join(", ");
  const figures = tellsRows ? 5 : 4;
  if (reads.length === 0) return [nameOfSet(set), ...Array(figures).fill("–"), refused];
  const slowest = reads.find((read) => read.ms === Math.max(...times))!;
  const rows = reads.flatMap((read) => read.rowsRead === null ? [] : [read.rowsRead]);
  return [
    nameOfSet(set),
    ms(percentile(times, 0.5)),
    ms(percentile(times, 0.95)),
    ms(slowest.ms),
    (percentile(reads.map((read) => read.replyBytes), 0.5) / 1024).toFixed(1),
    ...(tellsRows ? [rows.length === 0 ? "–" : count(percentile(rows, 0.5))] : []),
    [shortQuery(slowest.query), refused].filter((part) => part !== "").join("; "),
  ];
}

function sizeLines({ events, sizes }: HistoryReport): string[] {
  const row = (size: TableSize): string[] => [
    size.table,
    count(size.rows),
    mebibytes(size.heapBytes),
    mebibytes(size.indexBytes),
    mebibytes(size.toastBytes),
    (totalBytes(size) / events).toFixed(1),
  ];
  const all = sizes.reduce((sum, size) => sum + totalBytes(size), 0);
  return [
    ...table(["table", "rows", "heap", "indexes", "toast", "bytes per event"], sizes.map(row)),
    `everything: ${(all / events).toFixed(1)} bytes per event`,
  ];
}

const paceText = (pace: Pace | null): string =>
  pace === null
    ? "an earlier run"
    : `${pace.seconds.toFixed(1)} s (${count(pace.events / pace.seconds)} events/s)`;

function historyLines(history: HistoryReport): string[] {
  const tellsRows = history.sets.some(({ reads }) => reads.some((read) => read.rowsRead !== null));
  const rowsRead = tellsRows ? ["rows read"] : [];
  return [
    "",
    `${count(history.events)} events of ${count(history.actors)} actors over ${history.days} days`,
    `Stored in ${paceText(history.stored)}, projected in ${paceText(history.projected)}, ` +
    `merged in ${history.merged.seconds.toFixed(1)} s; ` +
    `peak memory of the server ${mebibytes(history.serverPeakMemoryBytes)}`,
    "",
    ...sizeLines(history),
    "",
    ...table(
      ["read, ms", "p50", "p95", "max", "reply KiB", ...rowsRead, "slowest"],
      history.sets.map((set) => setRow(set, tellsRows)),
    ),
    ...history.notes,
    ...history.explained.flatMap(explainedLines),
  ];
}

/** Statements shorter than this are counted only. */
const TOLD_MS_MIN = 1;

function explainedLines({ set, query, plans }: ExplainedSet): string[] {
  const told = plans.filter(({ durationMs }) => durationMs >= TOLD_MS_MIN);
  return [
    "",
    `${nameOfSet(set)}: ${shortQuery(query)}`,
    ...told.flatMap((plan) => [
      `  ${ms(plan.durationMs)} ms, ${count(plan.rowsRead)} rows read, ${
        count(plan.blocks)
      } pages` +
      (plan.spilledBlocks === 0 ? "" : `, ${count(plan.spilledBlocks)} pages spilled`) +
      `: ${plan.statement}`,
      `    ${plan.nodes}`,
    ]),
    `  and ${plans.length - told.length} statements of less than ${TOLD_MS_MIN} ms`,
  ];
}

/** How the medians grow from the first history to the last. */
function growthLines(histories: readonly HistoryReport[]): string[] {
  const first = histories[0]!;
  const last = histories.at(-1)!;
  if (first === last) return [];
  const rows = last.sets.flatMap((measured) => {
    const name = nameOfSet(measured.set);
    const before = first.sets.find(({ set }) => nameOfSet(set) === name);
    if (before === undefined || before.reads.length === 0 || measured.reads.length === 0) return [];
    const [from, to] = [p50Of(before), p50Of(measured)];
    return [[name, ms(from), ms(to), (to / from).toFixed(1)]];
  });
  const heading = `p50, ms, ${count(first.events)} → ${count(last.events)} events ` +
    `(${(last.events / first.events).toFixed(1)} times)`;
  return ["", ...table([heading, "first", "last", "ratio"], rows)];
}

/** The report as tables for people. */
export function readReportText(report: ReadReport): string {
  const settings = Object.entries(report.settings).map(([name, value]) => `${name}=${value}`);
  const [before, after] = report.loadAverage;
  return [
    report.machine,
    `Settings: ${settings.join(", ")}`,
    `Load average: ${before.toFixed(2)} before, ${after.toFixed(2)} at the end`,
    "One request at a time, each once, without If-None-Match; p50 and p95 by nearest rank.",
    ...report.histories.flatMap(historyLines),
    ...growthLines(report.histories),
  ].join("\n");
}
