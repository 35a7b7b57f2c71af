import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What the server counts of itself, in Prometheus' terms. One per App, none global. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "footfall_http_requests_total",
    help: "Requests by route, method and status",
    labelNames: ["route", "method", "status"],
    registers: [this.#registry],
  });
  readonly #requestSeconds = new Histogram({
    name: "footfall_http_request_duration_seconds",
    help: "Time from the request's headers to its reply",
    labelNames: ["route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.#registry],
  });
  readonly #accepted = new Counter({
    name: "footfall_events_accepted_total",
    help: "Valid events, those stored before included",
    registers: [this.#registry],
  });
  readonly #duplicates = new Counter({
    name: "footfall_events_duplicate_total",
    help: "Accepted events that were stored before",
    registers: [this.#registry],
  });
  readonly #rejected = new Counter({
    name: "footfall_events_rejected_total",
    help: "Events that were not stored, by code",
    labelNames: ["code"],
    registers: [this.#registry],
  });
  readonly #batchEvents = new Histogram({
    name: "footfall_batch_events",
    help: "Events in one request",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers: [this.#registry],
  });
  readonly #flushRows = new Histogram({
    name: "footfall_commit_rows",
    help: "Rows in one commit",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000],
    registers: [this.#registry],
  });
  readonly #flushSeconds = new Histogram({
    name: "footfall_commit_duration_seconds",
    help: "Time of one commit, from handing it over to knowing it is durable",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers: [this.#registry],
  });

  constructor(gauges: { readonly queueDepth: () => number; readonly bodyBytes: () => number }) {
    new Gauge({
      name: "footfall_queue_depth_rows",
      help: "Rows that wait for a commit or are in one",
      registers: [this.#registry],
      collect() {
        this.set(gauges.queueDepth());
      },
    });
    new Gauge({
      name: "footfall_body_bytes_in_flight",
      help: "Bytes of request bodies held in memory",
      registers: [this.#registry],
      collect() {
        this.set(gauges.bodyBytes());
      },
    });
    new Gauge({
      name: "process_resident_memory_bytes",
      help: "Resident memory of the server",
      registers: [this.#registry],
      collect() {
        this.set(Deno.memoryUsage().rss);
      },
    });
  }

  request(route: string, method: string, status: number, seconds: number): void {
    this.#requests.inc({ route, method, status });
    this.#requestSeconds.observe({ route }, seconds);
  }

  batch(outcome: { accepted: number; duplicates: number; rejected: readonly { code: string }[] }) {
    this.#accepted.inc(outcome.accepted);
    this.#duplicates.inc(outcome.duplicates);
    for (const { code } of outcome.rejected) this.#rejected.inc({ code });
    this.#batchEvents.observe(outcome.accepted + outcome.rejected.length);
  }

  flush({ rows, seconds }: { rows: number; seconds: number }): void {
    this.#flushRows.observe(rows);
    this.#flushSeconds.observe(seconds);
  }

  /** Everything in Prometheus' text format, with its content type. */
  async text(): Promise<{ body: string; contentType: string }> {
    return { body: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }
}
