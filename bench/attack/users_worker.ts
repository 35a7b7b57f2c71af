/**
 * Legitimate users, in a thread of their own so that an attack's client does not slow them: some
 * send batches of ten events until each is acknowledged, some read KPIs. Talked to by `users.ts`.
 */
export interface UsersOrder {
  readonly url: string;
  readonly apiKey: string;
  readonly token: string;
  readonly project: string;
  readonly writers: number;
  readonly writePauseMs: number;
  readonly readers: number;
  readonly readPauseMs: number;
}

export type Attempt = readonly [ms: number, code: string | null];

export interface Taken {
  readonly writes: readonly Attempt[];
  readonly reads: readonly Attempt[];
}

export type ToUsers =
  | { readonly kind: "start"; readonly order: UsersOrder }
  | { readonly kind: "target"; readonly url: string }
  | { readonly kind: "take" }
  | { readonly kind: "finish" };

/** An attempt is given up after this: nobody looks at a page for longer. */
const ATTEMPT_MS_MAX = 20_000;
const RETRY_MS = 200;
const BATCH_EVENTS = 10;
const FINISH_MS_MAX = 30_000;

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<ToUsers>) => void) | null;
  postMessage(message: unknown): void;
};

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const acknowledged: string[] = [];
let writes: Attempt[] = [];
let reads: Attempt[] = [];
let url = "";
let finishing = Infinity;
let serial = 0;

function batch(writer: number): { eventId: string }[] {
  return Array.from({ length: BATCH_EVENTS }, () => {
    serial++;
    return {
      eventId: crypto.randomUUID(),
      name: serial % 5 === 0 ? "add_to_cart" : "page_view",
      url: `https://shop.example/p/${serial % 50}?utm_source=newsletter`,
      anonymousId: `user_${writer}_${Math.floor(serial / 40)}`,
      properties: { price: serial % 90 },
    };
  });
}

/** @returns null, or why it was refused */
async function attempt(path: string, init: RequestInit, into: Attempt[]): Promise<boolean> {
  const startedAt = performance.now();
  let code: string | null = null;
  try {
    const reply = await fetch(url + path, { ...init, signal: AbortSignal.timeout(ATTEMPT_MS_MAX) });
    const body = await reply.json();
    if (reply.status !== 200) code = String(body.code ?? reply.status);
  } catch (error) {
    code = error instanceof DOMException ? "no reply" : "no connection";
  }
  into.push([performance.now() - startedAt, code]);
  return code === null;
}

async function write(order: UsersOrder, writer: number): Promise<void> {
  const headers = { "Content-Type": "application/json", "X-API-Key": order.apiKey };
  while (finishing === Infinity) {
    const events = batch(writer);
    const body = JSON.stringify({ events });
    while (performance.now() < finishing) {
      const isStored = await attempt("/v1/events", { method: "POST", headers, body }, writes);
      if (isStored) {
        for (const { eventId } of events) acknowledged.push(eventId);
        break;
      }
      await pause(RETRY_MS);
    }
    await pause(order.writePauseMs);
  }
}

async function read(order: UsersOrder): Promise<void> {
  const headers = { "Authorization": `Bearer ${order.token}` };
  while (finishing === Infinity) {
    await attempt(`/v1/kpis?project=${order.project}`, { headers }, reads);
    await pause(order.readPauseMs);
  }
}

let working: Promise<unknown> = Promise.resolve();
scope.onmessage = async ({ data }) => {
  if (data.kind === "start") {
    const { order } = data;
    url = order.url;
    working = Promise.all([
      ...Array.from({ length: order.writers }, (_, i) => write(order, i)),
      ...Array.from({ length: order.readers }, () => read(order)),
    ]);
  } else if (data.kind === "target") url = data.url;
  else if (data.kind === "take") {
    scope.postMessage({ writes, reads } satisfies Taken);
    writes = [];
    reads = [];
  } else {
    finishing = performance.now() + FINISH_MS_MAX;
    await working;
    scope.postMessage(acknowledged);
  }
};
