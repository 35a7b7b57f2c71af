import type { ReplicaStatus } from "../reports/answer/replica.ts";
import { Counter, exposition, Gauge, Histogram } from "../http/prometheus.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];

/** The metrics of the embedded database's disk. */
export interface DiskGauges {
  readonly freeBytes: () => number;
  /** 0: enough room, 1: low, 2: full. */
  readonly level: () => number;
}

function gaugesOf({ freeBytes, level }: DiskGauges): Gauge[] {
  return [
    new Gauge(
      "footfall_disk_free_bytes",
      "Space that is left on the disk of the embedded database",
      freeBytes,
    ),
    new Gauge(
      "footfall_disk_status",
      "0: there is room, 1: low, 2: full, nothing is stored",
      level,
    ),
  ];
}

function replicaGauge(status: ReplicaStatus): Gauge {
  const level = { follows: 0, behind: 1, away: 2, unknown: NaN }[status];
  return new Gauge(
    "footfall_replica_status",
    "0: the replica for reads follows, 1: behind, 2: away or none of this database, reads are refused; NaN: nobody knows, as the database is away",
    () => level,
  );
}

/** The metrics of one server, counted since it started. */
export class Metrics {
  readonly #requests = new Counter(
    "footfall_http_requests_total",
    "Requests by route, method and status",
  );
  readonly #requestSeconds = new Histogram(
    "footfall_http_request_duration_seconds",
    "Time from the request's headers to its reply",
    SECONDS,
  );
  readonly #accepted = new Counter(
    "footfall_events_accepted_total",
    "Valid events, those stored before included",
  );
  readonly #duplicates = new Counter(
    "footfall_events_duplicate_total",
    "Accepted events that were stored before",
  );
  readonly #rejected = new Counter(
    "footfall_events_rejected_total",
    "Events that were not stored, by code",
  );
  readonly #batchEvents = new Histogram("footfall_batch_events", "Events in one request", COUNTS);
  readonly #flushRows = new Histogram("footfall_commit_rows", "Rows in one commit", COUNTS);
  readonly #flushSeconds = new Histogram(
    "footfall_commit_duration_seconds",
    "Time of one commit, from handing it over to knowing it is durable",
    SECONDS,
  );
  readonly #captures = new Counter(
    "footfall_captures_total",
    "Attempts to photograph a page, by what they came to",
  );
  readonly #disk: readonly Gauge[];
  readonly #projectionFailures = new Counter(
    "footfall_projection_failures_total",
    "Transactions of the projection that failed, by SQLSTATE or cause; `set_aside`: events that could not be projected, `unreadable_segment`: rollups not recounted for a damaged segment, `worker_ended`, `worker_silent`: its thread was started anew",
  );
  readonly #queueDepth: Gauge;
  readonly #bodyBytes: Gauge;
  readonly #residentBytes = new Gauge(
    "process_resident_memory_bytes",
    "Resident memory of the server",
    () => Deno.memoryUsage().rss,
  );

  constructor(
    gauges: {
      readonly queueDepth: () => number;
      readonly bodyBytes: () => number;
      readonly disk?: DiskGauges;
    },
  ) {
    this.#disk = gauges.disk === undefined ? [] : gaugesOf(gauges.disk);
    this.#queueDepth = new Gauge(
      "footfall_queue_depth_rows",
      "Rows that wait for a commit or are in one",
      gauges.queueDepth,
    );
    this.#bodyBytes = new Gauge(
      "footfall_body_bytes_in_flight",
      "Bytes held in memory of the bodies of events, imports and uploaded files",
      gauges.bodyBytes,
    );
    // Counted from zero, so that a first event shows as an increase.
    for (const counter of [this.#accepted, this.#duplicates]) counter.add(0);
  }

  request(route: string, method: string, status: number, seconds: number): void {
    this.#requests.add(1, { route, method, status });
    this.#requestSeconds.observe(seconds, { route });
  }

  batch(outcome: {
    readonly accepted: number;
    readonly duplicates: number;
    readonly rejected: readonly { readonly code: string }[];
  }): void {
    this.#accepted.add(outcome.accepted);
    this.#duplicates.add(outcome.duplicates);
    for (const { code } of outcome.rejected) this.#rejected.add(1, { code });
    this.#batchEvents.observe(outcome.accepted + outcome.rejected.length);
  }

  flush({ rows, seconds }: { readonly rows: number; readonly seconds: number }): void {
    this.#flushRows.observe(rows);
    this.#flushSeconds.observe(seconds);
  }

  capture(status: string): void {
    this.#captures.add(1, { status });
  }

  projectionFailure(cause: string): void {
    this.#projectionFailures.add(1, { cause });
  }

  /**
   * Returns all metrics in Prometheus' text format.
   * @param replica how the replica for reads is; null: there is none
   */
  text(replica: ReplicaStatus | null): string {
    return exposition([
      this.#requests,
      this.#requestSeconds,
      this.#accepted,
      this.#duplicates,
      this.#rejected,
      this.#batchEvents,
      this.#flushRows,
      this.#flushSeconds,
      this.#captures,
      this.#projectionFailures,
      this.#queueDepth,
      this.#bodyBytes,
      ...this.#disk,
      ...(replica === null ? [] : [replicaGauge(replica)]),
      this.#residentBytes,
    ]);
  }
}
