import assert from "node:assert/strict";
import type { Sql } from "../../src/db/sql.ts";
import { storedRows } from "./event_rows.ts";
import { API_KEY, BODY_MARK, pause, within } from "./server_process.ts";

export interface SentEvent {
  readonly eventId: string;
  readonly name: string;
  readonly properties: { readonly number: number; readonly mark: string };
}

export interface Acknowledgement {
  readonly accepted: number;
  readonly duplicates: number;
}

export interface LoadOptions {
  readonly clients: number;
  readonly eventsPerBatch: number;
  /** Part of each batch whose ids were sent before: 0.1 is one in ten. */
  readonly repeatedShare?: number;
  readonly pauseMs?: number;
}

const FINISH_MS_MAX = 40_000;
/** What a client may be told while a server is killed, stopped or without its database. */
const RETRIED = new Set([
  "database_unavailable",
  "shutting_down",
  "overloaded",
  "moving",
  "moved",
]);

/** Posts a batch once. */
export function postBatch(url: string, events: readonly SentEvent[]): Promise<Response> {
  return fetch(`${url}/v1/events`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": API_KEY },
    body: JSON.stringify({ events }),
    signal: AbortSignal.timeout(30_000),
  });
}

/** Everything that was ever sent to the servers of one test, and what they said that they have stored. */
export class Load implements AsyncDisposable {
  /** By id. */
  readonly sent = new Map<string, SentEvent>();
  readonly acknowledged = new Set<string>();
  /** Answers that no client should ever get. */
  readonly surprises: string[] = [];
  readonly refusals = new Map<string, number>();
  accepted = 0;
  duplicates = 0;
  failedAttempts = 0;
  #ids: string[] = [];
  #working: Promise<void>[] = [];
  #ending = false;
  #abandoned = false;

  /** `target` names the server that a client's next attempt goes to; null: none is there. */
  constructor(readonly target: () => string | null, readonly options: LoadOptions) {}

  /** A batch of new events, some of them repeated from before or within the batch. */
  batch(): SentEvent[] {
    const { eventsPerBatch, repeatedShare = 0 } = this.options;
    return Array.from({ length: eventsPerBatch }, () => {
      const again = this.#ids[Math.floor(Math.random() * this.#ids.length)];
      if (again !== undefined && Math.random() < repeatedShare) return this.sent.get(again)!;
      const event = {
        eventId: crypto.randomUUID(),
        name: "load",
        properties: { number: this.sent.size, mark: BODY_MARK },
      };
      this.sent.set(event.eventId, event);
      this.#ids.push(event.eventId);
      return event;
    });
  }

  start(): void {
    this.#working = Array.from({ length: this.options.clients }, () => this.#work());
  }

  /** No new batches; resolves when every batch that was begun is acknowledged. */
  async finish(): Promise<void> {
    this.#ending = true;
    await within(FINISH_MS_MAX, Promise.all(this.#working), "Acknowledging the last batches");
  }

  /** Gives up what is not acknowledged yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abandoned = true;
    await this.finish();
  }

  /** Sends one batch until it is acknowledged, as an SDK does. */
  async deliver(events: readonly SentEvent[]): Promise<void> {
    while (!this.#abandoned) {
      if (await this.attempt(this.target(), events) !== null) return;
      this.failedAttempts++;
      await pause(20 + Math.random() * 60);
    }
  }

  /** One attempt. Null where it failed in a way that a client has to expect. */
  async attempt(
    url: string | null,
    events: readonly SentEvent[],
  ): Promise<Acknowledgement | null> {
    if (url === null) return null;
    let status: number;
    let body: Partial<Acknowledgement> & { code?: string };
    try {
      const reply = await postBatch(url, events);
      status = reply.status;
      body = await reply.json();
    } catch {
      return null;
    }
    if (status === 200) return this.#record(events, body as Acknowledgement);
    const code = String(body.code);
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    if (status !== 503 || !RETRIED.has(code)) this.surprises.push(`${status} ${code}`);
    return null;
  }

  #record(events: readonly SentEvent[], body: Acknowledgement): Acknowledgement {
    if (body.accepted !== events.length) this.surprises.push(`accepted ${body.accepted}`);
    for (const { eventId } of events) this.acknowledged.add(eventId);
    this.accepted += body.accepted;
    this.duplicates += body.duplicates;
    return body;
  }

  async #work(): Promise<void> {
    while (!this.#ending) {
      await this.deliver(this.batch());
      await pause(this.options.pauseMs ?? 0);
    }
  }
}

/**
 * Every acknowledged event is stored, once and as it was sent; nothing else is, except what was
 * sent without an answer. @returns the number of stored events
 */
export async function assertStored(sql: Sql, load: Load): Promise<number> {
  assert.deepEqual(load.surprises, []);
  const stored = new Set<string>();
  for (const row of await storedRows(sql)) {
    assert(!stored.has(row.event_id), `${row.event_id} is stored twice`);
    stored.add(row.event_id);
    const sent = load.sent.get(row.event_id);
    assert(sent !== undefined, `${row.event_id} was never sent`);
    assert.deepEqual({ name: row.name, properties: JSON.parse(row.properties ?? "") }, {
      name: sent.name,
      properties: sent.properties,
    });
  }
  const lost = [...load.acknowledged].filter((id) => !stored.has(id));
  assert.deepEqual(lost.slice(0, 5), [], `${lost.length} acknowledged events are lost`);
  return stored.size;
}
