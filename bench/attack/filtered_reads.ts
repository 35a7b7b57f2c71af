import type { Attack, Field } from "./ground.ts";

const FIELDS = [
  ...["name", "path", "host", "title", "referrer", "source", "medium", "campaign", "term"],
  ...["content", "channel", "country", "region", "city", "browser", "os", "device", "userId"],
  ...["entryPath", "exitPath", "properties.x", "properties.sku"],
];
const READS = ["kpis", "pages", "acquisition"];
const BATCH_EVENTS = 500;

function eventOf(i: number): object {
  return {
    eventId: crypto.randomUUID(),
    name: i % 3 === 0 ? "click" : "page_view",
    url: `https://shop.example/p/${i % 40}`,
    title: `Page ${i % 40}`,
    referrer: i % 4 === 0 ? "https://www.google.com/" : null,
    anonymousId: `visitor_${Math.floor(i / 6)}`,
    properties: { x: (i % 100) / 100, y: i % 900, sku: `A-${i % 20}` },
  };
}

async function postJson(url: string, token: string, body: object) {
  const reply = await fetch(url, {
    method: "POST",
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${await reply.text()}`);
  return await reply.json();
}

/** A project that has just taken its first `count` events. */
async function freshProject({ url, token }: Field, count: number): Promise<string> {
  const project = await postJson(`${url}/v1/projects`, token, { name: `${count} events` });
  const keys = `${url}/v1/projects/${project.id}/keys`;
  const { key } = await postJson(keys, token, { kind: "public" });
  for (let i = 0; i < count; i += BATCH_EVENTS) {
    const length = Math.min(BATCH_EVENTS, count - i);
    const events = Array.from({ length }, (_, j) => eventOf(i + j));
    const headers = { "X-API-Key": key };
    const reply = await fetch(`${url}/v1/events`, {
      method: "POST",
      headers,
      body: JSON.stringify({ events }),
    });
    await reply.body?.cancel();
  }
  return project.id;
}

async function readAll(field: Field): Promise<string> {
  const slowest = { ms: 0, what: "" };
  let refused = 0;
  for (const count of field.short ? [200, 2_040] : [1, 50, 200, 1_000, 2_040, 4_000, 20_000]) {
    const project = await freshProject(field, count);
    field.progress(`${count} events`);
    for (const name of READS) {
      for (const by of FIELDS) {
        const filter = by === "properties.x"
          ? { field: by, op: "gte", values: [0.5] }
          : { field: by, op: "exists", values: [] };
        const query = new URLSearchParams({ project, filters: JSON.stringify([filter]) });
        const startedAt = performance.now();
        const reply = await fetch(`${field.url}/v1/${name}?${query}`, {
          headers: { "Authorization": `Bearer ${field.token}` },
        });
        await reply.body?.cancel();
        const ms = performance.now() - startedAt;
        if (!reply.ok) refused++;
        if (ms > slowest.ms) Object.assign(slowest, { ms, what: `${name} by ${by}, ${count}` });
      }
    }
  }
  return `slowest ${Math.round(slowest.ms)} ms (${slowest.what} events), ${refused} refused`;
}

/** Projects that have just begun, read with each filter. */
export const FILTERED_READS: Attack = {
  name: "filtered_reads",
  engines: ["postgres", "embedded"],
  run: readAll,
};
