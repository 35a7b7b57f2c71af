/** What the earlier program is given: projects with settings, goals, funnels and keys, and their events. */
import { ask, operatorToken, pause, type Place, Program, runCommand } from "./program.ts";
import { type VariedBatch, variedBatches } from "./varied_events.ts";

const BATCH_EVENTS = 100;
const DAYS = 40;
const DAY_MS = 86_400_000;
const SENDING_AT_ONCE = 8;

/** A project of the earlier program. */
export interface EarlierProject {
  readonly id: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly batches: readonly VariedBatch[];
}

async function call(place: Place, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${await operatorToken()}` };
  const answer = await ask(place, path, { method, headers, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.body as Record<string, unknown>;
}

async function createProject(
  place: Place,
  id: string,
  settings: Record<string, unknown>,
): Promise<Pick<EarlierProject, "id" | "publicKey" | "secretKey">> {
  await call(place, "POST", "/v1/projects", { id, name: `Shop ${id}, "the" first`, ...settings });
  const key = async (kind: string) =>
    (await call(place, "POST", `/v1/projects/${id}/keys`, { kind, label: "trial" })).key as string;
  const project = { id, publicKey: await key("public"), secretKey: await key("secret") };
  const saved = [
    ["goals/buy", {
      title: "Buys",
      match: { name: "purchase" },
      value: { property: "amount", currency: "EUR" },
    }],
    ["goals/sign-up", {
      title: "Signs up",
      match: { name: "signup" },
      value: { fixed: 3, currency: "EUR" },
    }],
    ["funnels/checkout", {
      title: "Check-out",
      steps: [{ name: "page_view" }, { name: "click" }, { name: "purchase" }],
      window: "7d",
    }],
  ] as const;
  for (const [path, body] of saved) await call(place, "PUT", `/v1/${path}?project=${id}`, body);
  return project;
}

/** Sends one batch, until it is taken. @returns how many of its events had been stored before */
export async function sendBatch(
  place: Place,
  project: Pick<EarlierProject, "publicKey" | "secretKey">,
  batch: VariedBatch,
): Promise<number> {
  const key = batch.isOfBackend ? project.secretKey : project.publicKey;
  const headers = { ...batch.headers, "x-api-key": key };
  const { status, body } = await ask(place, "/v1/events", {
    method: "POST",
    headers,
    body: { events: batch.events },
  });
  const { accepted, duplicates } = body as { accepted: number; duplicates: number };
  if (status !== 200 || accepted !== batch.events.length) {
    throw new Error(`POST /v1/events: ${status} ${JSON.stringify(body).slice(0, 500)}`);
  }
  return duplicates;
}

async function sendAll(
  place: Place,
  project: Pick<EarlierProject, "publicKey" | "secretKey">,
  batches: readonly VariedBatch[],
): Promise<void> {
  const left = batches.values();
  const send = async () => {
    for (const batch of left) await sendBatch(place, project, batch);
  };
  await Promise.all(Array.from({ length: SENDING_AT_ONCE }, send));
}

/** Waits until the project is counted: a read says nothing is pending, or has no such word. */
export async function untilCounted(place: Place, token: string, project: string): Promise<void> {
  for (;;) {
    const { body } = await ask(place, `/v1/kpis?project=${project}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (((body as { pending?: number }).pending ?? 0) === 0) return;
    await pause(100);
  }
}

/**
 * Makes the data with the earlier program's server, its API and its `seed`: two projects with other
 * zones and settings, of so many events together, and the demo shop. Somebody is erased again.
 */
export async function makeEarlierData(
  folder: string,
  place: Place,
  events: number,
  endMs: number,
): Promise<EarlierProject[]> {
  const server = new Program(folder, place);
  await server.ready();
  const settings = [
    { timezone: "America/New_York", siteUrl: "https://shop.example" },
    { timezone: "Australia/Lord_Howe", ipStorage: "truncated", retentionDays: 20_000 },
  ];
  const projects: EarlierProject[] = [];
  for (const [i, setting] of settings.entries()) {
    const share = Math.round(events * (i === 0 ? 0.7 : 0.3));
    const batches = [...variedBatches(share, 7 + i, endMs, DAYS, BATCH_EVENTS)];
    const project = await createProject(place, `prj_trial_${i}`, setting);
    await sendAll(place, project, batches);
    projects.push({ ...project, batches });
  }
  const visitors = String(Math.min(3_000, Math.max(100, Math.round(events / 50))));
  const until = new Date(endMs - DAY_MS).toISOString();
  await runCommand(folder, place, ["seed", "--visitors", visitors, "--until", until]);
  const token = await operatorToken();
  for (const { id } of projects) await untilCounted(place, token, id);
  await call(place, "DELETE", `/v1/actors/anon-3?project=prj_trial_0`);
  await server.end("SIGTERM");
  return projects;
}
