export type Engine = "postgres" | "embedded";

/** What users got in one span of time. */
export interface Felt {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  readonly attempts: number;
  /** Attempts without a 200: refused, or ended without a reply. */
  readonly refused: number;
  /** The codes of refusals, with how many got each. */
  readonly codes: Readonly<Record<string, number>>;
}

/** One line of the report: what legitimate users notice of one attack on one engine. */
export interface Row {
  readonly attack: string;
  readonly engine: Engine;
  /** Batches of ten events, before the attack and during it. */
  readonly quiet: Felt;
  readonly writes: Felt;
  /** KPIs of the last 30 days, during it. */
  readonly reads: Felt;
  readonly peakBytes: number;
  /** Until both are answered at once again; null: not within a minute. */
  readonly recoveryMs: number | null;
  /** Acknowledged events that are not stored; null: the server did not live. */
  readonly lost: number | null;
  readonly note: string;
}

const MEBIBYTE = 2 ** 20;
const HEAD = [
  "attack",
  "engine",
  "writes before: p50 / p99",
  "during: p50 / p99 / worst",
  "refused",
  "reads during: p50 / p99 / worst",
  "refused",
  "peak memory",
  "recovered after",
  "lost",
  "seen",
];

/** The figures of a number of attempts: milliseconds, and the code of a refusal or null. */
export function feltOf(attempts: readonly (readonly [ms: number, code: string | null])[]): Felt {
  const times = attempts.map(([ms]) => ms).sort((a, b) => a - b);
  const at = (share: number) => times[Math.ceil(share * times.length) - 1] ?? 0;
  const codes: Record<string, number> = {};
  for (const [, code] of attempts) if (code !== null) codes[code] = (codes[code] ?? 0) + 1;
  const refused = Object.values(codes).reduce((sum, n) => sum + n, 0);
  const [p50Ms, p99Ms, worstMs] = [at(0.5), at(0.99), at(1)];
  return { p50Ms, p99Ms, worstMs, attempts: times.length, refused, codes };
}

function time(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** p50, p99 and the worst; a dash where nobody got a reply. */
function times({ p50Ms, p99Ms, worstMs, attempts }: Felt): string {
  return attempts === 0 ? "–" : [p50Ms, p99Ms, worstMs].map(time).join(" / ");
}

function refusals({ attempts, refused, codes }: Felt): string {
  if (refused === 0) return "0";
  const share = `${(100 * refused / Math.max(1, attempts)).toFixed(1)} %`;
  return `${share} (${Object.entries(codes).map(([code, n]) => `${n} ${code}`).join(", ")})`;
}

/** The report's head as Markdown. */
export function headText(): string {
  return `| ${HEAD.join(" | ")} |\n|${" --- |".repeat(HEAD.length)}`;
}

/** One row as Markdown. */
export function rowText(row: Row): string {
  const { quiet, writes, reads } = row;
  const cells = [
    row.attack,
    row.engine,
    `${time(quiet.p50Ms)} / ${time(quiet.p99Ms)}`,
    times(writes),
    refusals(writes),
    times(reads),
    refusals(reads),
    `${Math.round(row.peakBytes / MEBIBYTE)} MiB`,
    row.recoveryMs === null ? "**not within a minute**" : time(row.recoveryMs),
    row.lost === null ? "**server ended**" : row.lost === 0 ? "0" : `**${row.lost}**`,
    row.note,
  ];
  return `| ${cells.join(" | ")} |`;
}
