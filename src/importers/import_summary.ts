import type { ImportedEvent } from "../event_file/exported_event.ts";
import type { Converted } from "./conversion.ts";
import { NAMES_COUNTED_MAX, SAMPLE_EVENTS, SUMMARY_ROWS_MAX } from "./importer_limits.ts";
import type { RowRefusal } from "./text_lines.ts";

/** How often something occurs. */
export interface Counted {
  readonly what: string;
  readonly count: number;
}

/** A row that is not imported, and its place. */
export interface Refusal extends RowRefusal {
  readonly file: string;
  readonly line: number;
}

/** The result of a dry run. */
export interface ImportSummary {
  /** Events that can be stored. */
  readonly events: number;
  /** How many of these are stored already. */
  readonly known: number;
  readonly refused: number;
  /** By code, the most frequent first. */
  readonly reasons: readonly Counted[];
  /** The first refusals. */
  readonly refusals: readonly Refusal[];
  /** Rows that are not events of visitors, by kind. */
  readonly leftOut: readonly Counted[];
  /** By name, the most frequent first. */
  readonly names: readonly Counted[];
  /** The first and the last UTC day with an event; null: there is none. */
  readonly days: { readonly first: string; readonly last: string } | null;
  readonly sample: readonly ImportedEvent[];
}

const OTHER_NAMES = "(others)";
/** The server's name of events without one. */
const UNNAMED = "event";
const DAY_LENGTH = "2026-01-31".length;

function frequentFirst(counts: ReadonlyMap<string, number>): Counted[] {
  return [...counts].map(([what, count]) => ({ what, count }))
    .sort((a, b) => b.count - a.count || (a.what < b.what ? -1 : 1))
    .slice(0, SUMMARY_ROWS_MAX);
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Returns the epoch milliseconds of an event's time; null: it has none that can be read. */
function msOf(timestamp: ImportedEvent["timestamp"]): number | null {
  const ms = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp ?? NaN;
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : null;
}

/** Gathers the summary of a dry run, in bounded memory. */
export class SummaryGatherer {
  #events = 0;
  #refused = 0;
  readonly #reasons = new Map<string, number>();
  readonly #refusals: Refusal[] = [];
  readonly #leftOut = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #sample: ImportedEvent[] = [];
  #firstMs = Infinity;
  #lastMs = -Infinity;

  /** Adds the outcome of a row: the result of its conversion, or the server's refusal of its event. */
  add({ file, line, outcome }: Converted, refused: RowRefusal | null = null): void {
    if (refused !== null) this.#refuse({ file, line, ...refused });
    else if ("leftOut" in outcome) count(this.#leftOut, outcome.leftOut);
    else if ("refused" in outcome) this.#refuse({ file, line, ...outcome.refused });
    else this.#addEvent(outcome.event);
  }

  #refuse(refusal: Refusal): void {
    this.#refused++;
    count(this.#reasons, refusal.code);
    if (this.#refusals.length < SUMMARY_ROWS_MAX) this.#refusals.push(refusal);
  }

  #addEvent(event: ImportedEvent): void {
    this.#events++;
    const name = event.name ?? UNNAMED;
    const isNew = !this.#names.has(name);
    // The sample has at most one event of each name.
    if (isNew && this.#sample.length < SAMPLE_EVENTS) this.#sample.push(event);
    count(this.#names, isNew && this.#names.size >= NAMES_COUNTED_MAX ? OTHER_NAMES : name);
    const ms = msOf(event.timestamp);
    if (ms === null) return;
    this.#firstMs = Math.min(this.#firstMs, ms);
    this.#lastMs = Math.max(this.#lastMs, ms);
  }

  /** @param known how many of the events are stored already */
  result(known: number): ImportSummary {
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, DAY_LENGTH);
    return {
      events: this.#events,
      known,
      refused: this.#refused,
      reasons: frequentFirst(this.#reasons),
      refusals: this.#refusals,
      leftOut: frequentFirst(this.#leftOut),
      names: frequentFirst(this.#names),
      days: this.#firstMs === Infinity
        ? null
        : { first: dayOf(this.#firstMs), last: dayOf(this.#lastMs) },
      sample: this.#sample,
    };
  }
}
