/**
 * Prometheus' text exposition format 0.0.4: counters, gauges and histograms, with labels. Written here
 * because `deno compile` overflows its stack on the dependencies of the usual client (Deno 2.9.6).
 */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string | number>>;

interface Metric {
  /** Returns the lines of the metric, `# HELP` and `# TYPE` first. */
  lines(): string[];
}

const NEEDS_ESCAPE = /[\\\n"]/;

function escaped(value: string): string {
  return !NEEDS_ESCAPE.test(value)
    ? value
    : value.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"');
}

/** Returns `a="1",b="2"`: the labels as the format writes them, which is also the key of their series. */
function seriesOf(labels: Labels): string {
  let text = "";
  for (const name in labels) {
    text += `${text === "" ? "" : ","}${name}="${escaped(String(labels[name]))}"`;
  }
  return text;
}

const braced = (series: string) => series === "" ? "" : `{${series}}`;

function heading(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

export class Counter implements Metric {
  readonly #series = new Map<string, number>();
  constructor(readonly name: string, readonly help: string) {}

  add(count: number, labels: Labels = {}): void {
    const series = seriesOf(labels);
    this.#series.set(series, (this.#series.get(series) ?? 0) + count);
  }

  lines(): string[] {
    const values = [...this.#series].map(([series, value]) =>
      `${this.name}${braced(series)} ${value}`
    );
    return [...heading(this.name, this.help, "counter"), ...values];
  }
}

export class Gauge implements Metric {
  constructor(readonly name: string, readonly help: string, readonly read: () => number) {}

  lines(): string[] {
    return [...heading(this.name, this.help, "gauge"), `${this.name} ${this.read()}`];
  }
}

interface Distribution {
  /** The number of observations in each bucket, not cumulative; the last bucket is above all bounds. */
  readonly counts: number[];
  sum: number;
}

export class Histogram implements Metric {
  readonly #series = new Map<string, Distribution>();
  /** @param bounds upper bounds of the buckets, ascending; `+Inf` is added */
  constructor(readonly name: string, readonly help: string, readonly bounds: readonly number[]) {}

  observe(value: number, labels: Labels = {}): void {
    const series = seriesOf(labels);
    let seen = this.#series.get(series);
    if (seen === undefined) {
      seen = { counts: new Array(this.bounds.length + 1).fill(0), sum: 0 };
      this.#series.set(series, seen);
    }
    let bucket = 0;
    while (bucket < this.bounds.length && value > this.bounds[bucket]!) bucket++;
    seen.counts[bucket]!++;
    seen.sum += value;
  }

  lines(): string[] {
    const lines = heading(this.name, this.help, "histogram");
    for (const [series, { counts, sum }] of this.#series) {
      const prefix = series === "" ? "" : `${series},`;
      let total = 0;
      counts.forEach((count, i) => {
        total += count;
        lines.push(`${this.name}_bucket{${prefix}le="${this.bounds[i] ?? "+Inf"}"} ${total}`);
      });
      lines.push(`${this.name}_sum${braced(series)} ${sum}`);
      lines.push(`${this.name}_count${braced(series)} ${total}`);
    }
    return lines;
  }
}

export function exposition(metrics: readonly Metric[]): string {
  return `${metrics.flatMap((metric) => metric.lines()).join("\n")}\n`;
}
