import { API_KEY, pause } from "../../tests/support/server_process.ts";
import { type Attack, type Field, PROJECT } from "./ground.ts";

const DAY_MS = 86_400_000;
const BATCH_EVENTS = 500;
const SENDERS = 4;
const RETRY_MS = 500;
const COUNTED_MS_MAX = 15 * 60_000;
const STEPS = JSON.stringify([{ name: "page_view" }, { name: "signup" }]);
const READS: readonly string[] = [
  "kpis",
  "acquisition?by=source",
  "pages",
  `funnels?steps=${encodeURIComponent(STEPS)}`,
  "retention?interval=week",
  "goals",
  "trends?event=page_view&by=path",
  "insights",
  "heatmaps?path=%2F",
  "heatmaps/paths",
  "live",
  "events?limit=10",
];

type Event = Readonly<Record<string, unknown>>;

/** Sends batches until all are taken; what is refused is sent again. @returns how often it was */
async function send(field: Field, batches: Iterator<readonly Event[]>): Promise<number> {
  let refused = 0;
  const sender = async () => {
    for (let next = batches.next(); !next.done; next = batches.next()) {
      const body = JSON.stringify({ events: next.value });
      for (;;) {
        const response = await fetch(`${field.url}/v1/events`, {
          method: "POST",
          headers: { "X-API-Key": API_KEY, "Content-Type": "application/json" },
          body,
        }).catch(() => null);
        await response?.body?.cancel();
        if (response?.ok) break;
        refused++;
        await pause(RETRY_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return refused;
}

/** Asks every read in turn, again and again, and keeps the slowest and the failures. */
class Reader {
  slowest = { ms: 0, read: "" };
  pendingMax = 0;
  asked = 0;
  readonly failures: string[] = [];

  constructor(readonly field: Field) {}

  /** @returns how many events were pending */
  async ask(read: string): Promise<number> {
    const { url, token } = this.field;
    const address = `${url}/v1/${read}${read.includes("?") ? "&" : "?"}project=${PROJECT}`;
    const startedAt = performance.now();
    let pending = Infinity;
    try {
      const response = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
      const body = await response.json();
      if (response.ok) pending = body.pending;
      else this.failures.push(`${response.status} ${read.split("?")[0]}`);
    } catch (error) {
      this.failures.push(`${error} ${read.split("?")[0]}`);
    }
    const ms = performance.now() - startedAt;
    if (ms > this.slowest.ms) this.slowest = { ms, read: read.split("?")[0]! };
    if (pending < Infinity) this.pendingMax = Math.max(this.pendingMax, pending);
    this.asked++;
    return pending;
  }

  /** Goes on while `isOver` does not hold. */
  async askUntil(isOver: () => boolean): Promise<void> {
    for (let i = 0; !isOver(); i++) await this.ask(READS[i % READS.length]!);
  }

  text(): string {
    const { slowest, failures, pendingMax, asked } = this;
    const failed = failures.length === 0
      ? "none failed"
      : `**${failures.length} failed** (${[...new Set(failures)].join(", ")})`;
    return `${asked} reads of ${READS.length} kinds: slowest ${Math.round(slowest.ms)} ms ` +
      `(${slowest.read}), ${failed}; at most ${pendingMax} events pending`;
  }
}

async function importing(field: Field, batches: Iterator<readonly Event[]>): Promise<string> {
  const reader = new Reader(field);
  const startedAt = performance.now();
  let isSent = false;
  const sending = send(field, batches).finally(() => isSent = true);
  await reader.askUntil(() => isSent);
  const refused = await sending;
  const sentS = (performance.now() - startedAt) / 1000;
  field.progress(`sent after ${Math.round(sentS)} s; ${reader.text()}`);
  for (let i = 0; await reader.ask("kpis") > 0; i++) {
    await reader.ask(READS[i % READS.length]!);
    if (performance.now() - startedAt > COUNTED_MS_MAX) break;
  }
  const countedS = (performance.now() - startedAt) / 1000;
  return `${reader.text()}; sent in ${Math.round(sentS)} s, counted after ${
    Math.round(countedS)
  } s; ` +
    `${refused} batches sent twice`;
}

/** Visitors with a visit of five events each, over a year. */
function* history(events: number): Generator<readonly Event[]> {
  const untilMs = Date.now() - DAY_MS;
  for (let first = 0; first < events; first += BATCH_EVENTS) {
    yield Array.from({ length: BATCH_EVENTS }, (_, i) => {
      const visit = Math.floor((first + i) / 5);
      return {
        eventId: crypto.randomUUID(),
        name: i % 5 === 4 && visit % 9 === 0 ? "signup" : "page_view",
        anonymousId: `a${visit % Math.max(1, Math.floor(events / 20))}`,
        url: `https://shop.example/page-${(visit * 7 + i) % 200}?utm_source=s${visit % 30}`,
        timestamp: untilMs - (visit * 7919 % 365) * DAY_MS + (i % 5) * 60_000,
      };
    });
  }
}

/** A history of a million events, sent as fast as it is taken, while people look at every report. */
export const IMPORT: Attack = {
  name: "import",
  engines: ["postgres", "embedded"],
  run: (field) => importing(field, history(field.short ? 50_000 : 1_000_000)),
};
