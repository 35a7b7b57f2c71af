import { median } from "./median.ts";
import type { MeasuredLoad } from "./server_process.ts";
import type { Sustained } from "./sustained.ts";

/** What each way stored in one round, in rows per second or as a load. */
export interface Round {
  /** On one connection, in one transaction. */
  readonly copyRowsPerSecond: number;
  /** The way that was the fastest on an empty table. */
  readonly fastestCopyRowsPerSecond: number;
  readonly insertRowsPerSecond: number;
  readonly service: MeasuredLoad;
  /** The server of another checkout, where one was named. */
  readonly against: MeasuredLoad | null;
  /** With random ids. */
  readonly random: MeasuredLoad;
}

export interface Report {
  readonly machine: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Of the load. */
  readonly connections: number;
  /** On an empty table, the fastest first: that one is the limit in the rounds. */
  readonly copyWays: readonly { readonly way: string; readonly rowsPerSecond: number }[];
  readonly rounds: readonly Round[];
  readonly singles: MeasuredLoad;
  readonly serverPeakMemoryBytes: number;
  /** By engine: the rounds of the service, then those of the other checkout. */
  readonly sustained: {
    readonly postgres: readonly (readonly Sustained[])[];
    readonly embedded: readonly (readonly Sustained[])[];
    readonly embeddedPeakMemoryBytes: number;
  };
  /** Of the minute before the benchmark, and of its last one. */
  readonly loadAverage: readonly [before: number, after: number];
}

const count = (value: number): string => Math.round(value).toLocaleString("en");
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const mebibytes = (bytes: number): string => `${count(bytes / 2 ** 20)} MiB`;

/** Microseconds an event, of all runs together: processor time is counted in hundredths of a second. */
function costs(loads: readonly MeasuredLoad[]): string {
  const sum = (of: (load: MeasuredLoad) => number) =>
    loads.reduce((all, load) => all + of(load), 0);
  const perEvent = (of: (load: MeasuredLoad) => number) =>
    `${(sum(of) * 1e6 / sum((load) => load.accepted)).toFixed(1)} µs`;
  return `server ${perEvent((load) => load.serverCpuSeconds)} ` +
    `(the thread that answers ${perEvent((load) => load.answeringCpuSeconds)}), ` +
    `database ${perEvent((load) => load.databaseCpuSeconds)}, ` +
    `generator ${perEvent((load) => load.cpuSeconds)}`;
}

/** The run that stands for all: the one with the median rate. */
function typicalLoad(loads: readonly MeasuredLoad[]): MeasuredLoad {
  const sorted = [...loads].sort((a, b) => a.eventsPerSecond - b.eventsPerSecond);
  return sorted[sorted.length >> 1]!;
}

type Line = readonly [name: string, value: string];

function loadLines(
  name: string,
  rounds: readonly Round[],
  of: (round: Round) => MeasuredLoad,
): Line[] {
  const load = typicalLoad(rounds.map(of));
  const share = (limit: (round: Round) => number) => {
    const ratios = rounds.map((round) => of(round).eventsPerSecond / limit(round));
    return `${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(", ")})`;
  };
  return [
    [`${name}, 10-event batches`, `${count(load.eventsPerSecond)} events/s`],
    ["  as a share of COPY on one connection", share((round) => round.copyRowsPerSecond)],
    ["  as a share of COPY the fastest way", share((round) => round.fastestCopyRowsPerSecond)],
    ["  latency p50, p99", `${ms(load.p50Ms)}, ${ms(load.p99Ms)}`],
    ["  processor time per event", costs(rounds.map(of))],
  ];
}

function ratios(ours: readonly number[], others: readonly number[]): string {
  const each = ours.map((value, i) => value / others[i]!);
  return `${median(each).toFixed(2)} (${each.map((ratio) => ratio.toFixed(2)).join(", ")})`;
}

function sustainedLines(name: string, rounds: readonly Sustained[]): Line[] {
  const middle = (of: (one: Sustained) => number) => median(rounds.map(of));
  return [
    [`${name}, sustained`, `${count(middle((one) => one.eventsPerSecond))} events/s`],
    [
      `  taken in ${count(middle((one) => one.load.seconds))} s, pending then, counted after`,
      `${count(middle((one) => one.load.eventsPerSecond))} events/s, ${
        count(middle((one) => one.pending))
      }, ${middle((one) => one.emptyAfterSeconds).toFixed(1)} s`,
    ],
    ...middle((one) => one.left) === 0
      ? []
      : [["  not counted by then", `${count(middle((one) => one.left))} events`] as const],
    ["  processor time per event, as they came", costs(rounds.map((one) => one.load))],
    [
      "  bytes per event, of them the journal, and of the log",
      [
        middle((one) => one.bytesPerEvent),
        middle((one) => one.journalBytesPerEvent),
        middle((one) => one.walBytesPerEvent),
      ].map(count).join(", "),
    ],
  ];
}

function sustainedOf(name: string, [own, others]: readonly (readonly Sustained[])[]): Line[] {
  const lines = sustainedLines(name, own ?? []);
  if (own === undefined || others === undefined) return lines;
  const rates = (rounds: readonly Sustained[]) => rounds.map((one) => one.eventsPerSecond);
  return [
    ...lines,
    ...sustainedLines(`${name}, other checkout`, others),
    ["  sustained, service to other checkout", ratios(rates(own), rates(others))],
  ];
}

/** The report as a table for people. */
export function reportText(report: Report): string {
  const { rounds, singles, sustained } = report;
  const settings = Object.entries(report.settings).map(([name, value]) => `${name}=${value}`);
  const inserts = median(rounds.map((round) => round.insertRowsPerSecond));
  const rates = (of: (round: Round) => MeasuredLoad | null) =>
    rounds.flatMap((round) => of(round)?.eventsPerSecond ?? []);
  const [own, others, random] = [
    rates(({ service }) => service),
    rates(({ against }) => against),
    rates(({ random }) => random),
  ];
  const lines: Line[] = [
    ...report.copyWays.map(({ way, rowsPerSecond }): Line => [
      `${way}, empty table`,
      `${count(rowsPerSecond)} events/s`,
    ]),
    [
      "COPY on one connection, in the rounds",
      `${count(median(rounds.map((round) => round.copyRowsPerSecond)))} events/s`,
    ],
    [
      "COPY the fastest way, in the rounds",
      `${count(median(rounds.map((round) => round.fastestCopyRowsPerSecond)))} events/s`,
    ],
    ["grouped INSERT, 2 connections, 1,000 rows", `${count(inserts)} events/s`],
    ...loadLines("service alone", rounds, (round) => round.service),
    ["  peak memory of the server", mebibytes(report.serverPeakMemoryBytes)],
    ...(others.length === 0 ? [] : [
      ...loadLines("other checkout alone", rounds, (round) => round.against ?? round.service),
      ["  alone, service to other checkout", ratios(own, others)] as const,
    ]),
    ["random ids, as a share of time-ordered ones", ratios(random, own)],
    ["service alone, one event at a time: p50, p99", `${ms(singles.p50Ms)}, ${ms(singles.p99Ms)}`],
    ...sustainedOf("PostgreSQL", sustained.postgres),
    ...sustainedOf("embedded engine", sustained.embedded),
    ["  peak memory of the embedded server", mebibytes(sustained.embeddedPeakMemoryBytes)],
  ];
  const [before, after] = report.loadAverage;
  return [
    report.machine,
    `Settings: ${settings.join(", ")}; ${report.connections} connections`,
    `Load average: ${before.toFixed(2)} before, ${after.toFixed(2)} at the end`,
    "",
    ...lines.map(([name, value]) => `${name.padEnd(56)}${value}`),
  ].join("\n");
}
