import { listProjects, type Project } from "../auth/projects.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { Problem } from "../problem.ts";
import { type Look, look, type Noticed } from "./alert_check.ts";
import { EVERY_MS, nextLookMs } from "./alert_definition.ts";
import { alertMessage, recoveryMessage } from "./alert_message.ts";
import {
  claimDelivery,
  type DeliverySource,
  giveBack,
  type NewDeliveries,
  noteOutcome,
  shownDeliveries,
  type ShownDelivery,
  storeDeliveries,
} from "./deliveries.ts";
import { digestMessage } from "./digest_message.ts";
import type { Message } from "./message.ts";
import { holdProject } from "../db/held_project.ts";
import { ServedProjects } from "../db/served_projects.ts";
import type { Receivers } from "./receivers.ts";
import { sendDelivery, type SendingServices } from "./sending.ts";
import { lastSlot, nextSlot } from "./slots.ts";
import { SENDS_AT_ONCE, TOLD_RUN_MS_MAX } from "./told_limits.ts";
import type { ToldReads } from "./told_reads.ts";
import {
  ALERTS,
  claimTold,
  DIGESTS,
  noteLook,
  releaseTold,
  type StoredAlert,
  type StoredDigest,
  type ToldKind,
} from "./told_store.ts";

export interface RunnerServices extends SendingServices {
  readonly reads: ToldReads;
  readonly log: Pick<Log, "warn" | "error">;
  readonly randomText: (length: number) => string;
  /** Whether a message may set out: not while its outcome could not be noted. */
  readonly maySend: () => boolean;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

const OCCASION_LENGTH = 22;
/** After a look that failed: not at once, and not for long. */
const FAILED_LOOK_AGAIN_MS = 15 * 60_000;

const iso = (ms: number) => new Date(ms).toISOString();

async function projectOf(sql: Sql, projectId: number): Promise<Project> {
  const [row] = await sql.query<{ public_id: string }>(
    "SELECT public_id FROM projects WHERE project_id = $1::int",
    [projectId],
  );
  const [project] = row === undefined ? [] : await listProjects(sql, [row.public_id]);
  if (project === undefined) throw new Problem("not_found", "The project is gone.");
  return project;
}

/** What a digest tells of, in the order in which it names them. */
async function projectsOf(sql: Sql, digest: StoredDigest, own: Project): Promise<Project[]> {
  const ids = digest.definition.projects;
  if (ids.length === 0) return [own];
  const found = await listProjects(sql, ids);
  return ids.flatMap((id) => found.find((project) => project.id === id) ?? []);
}

function sentenceOf(error: unknown): string {
  return error instanceof Problem ? error.detail : "The server made a mistake; its log says more.";
}

/**
 * Looks at what is due and sends what came of it. Any number of servers may have one: each digest, alert
 * and message is taken by one of them at a time, and every message has an id by which it is stored once.
 */
export class ToldRunner {
  readonly #services: RunnerServices;
  /** Messages that are on their way. */
  readonly #sending = new Set<Promise<boolean>>();
  readonly #served = new ServedProjects();

  constructor(services: RunnerServices) {
    this.#services = services;
  }

  /** Resolves once all messages that are on their way have come to an outcome, which is noted. */
  async sent(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  /** Does what is due, until nothing is, nothing may be, TOLD_RUN_MS_MAX have passed, or `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { maySend } = this.#services;
    const begunMs = performance.now();
    const mayGoOn = () =>
      !signal.aborted && maySend() && performance.now() - begunMs < TOLD_RUN_MS_MAX;
    const look = async () => {
      while (mayGoOn() && await this.#lookAtDigest());
      while (mayGoOn() && await this.#lookAtAlert());
    };
    // Several at once, so that one that does not answer holds up no other.
    const sender = async () => {
      while (mayGoOn() && await this.#send(null, signal));
    };
    const senders = () => Array.from({ length: SENDS_AT_ONCE }, sender);
    // What waits is sent beside the looks: those at a project with much to count take all of the time.
    await Promise.all([look(), ...senders()]);
    await Promise.all(senders());
  }

  /** What a digest would tell now: of the last days that it would be due for. Throws Problem. */
  async #messageOfDigest(digest: StoredDigest, isTest: boolean) {
    const { sql, reads, now, publicUrl } = this.#services;
    const own = await projectOf(sql, digest.projectId);
    const { definition, slug } = digest;
    const address = publicUrl ?? digest.address;
    const timezone = definition.timezone ?? own.timezone;
    const slot = lastSlot(definition, timezone, now());
    const projects = await projectsOf(sql, digest, own);
    const message = await digestMessage(reads, {
      slug,
      definition,
      projects,
      slot,
      timezone,
      address,
      isTest,
    });
    return { own, slot, message };
  }

  async #lookAtDigest(): Promise<boolean> {
    const { sql, now } = this.#services;
    const digest = await claimTold<StoredDigest["definition"]>(sql, DIGESTS, now());
    if (digest === null) return false;
    await this.#unlessItFails(DIGESTS, digest, async () => {
      const { own, slot, message } = await this.#messageOfDigest(digest, false);
      await sql.transaction(async (tx) => {
        // The zone may have changed while the message was made.
        const timezone = digest.definition.timezone ?? await holdProject(tx, digest.projectId);
        const nextMs = nextSlot(digest.definition, timezone, now()).atMs;
        if (!await noteLook(tx, DIGESTS, digest, { nextMs, problem: null })) return;
        // Whoever was told of a day may be told of its week on the same date.
        const occasion = `${digest.definition.every} ${slot.date}`;
        await this.#store(tx, digest, own, { source: "digest", occasion, message });
      });
    });
    return true;
  }

  async #lookAtAlert(): Promise<boolean> {
    const { sql, reads, now } = this.#services;
    const alert = await claimTold<StoredAlert["definition"]>(sql, ALERTS, now());
    if (alert === null) return false;
    await this.#unlessItFails(ALERTS, alert, async () => {
      const project = await projectOf(sql, alert.projectId);
      const nowMs = now();
      const found = await look({ reads, project, nowMs }, alert.definition.on);
      await sql.transaction((tx) => this.#noteAlert(tx, alert, project, found, nowMs));
    });
    return true;
  }

  /** Tells what was not told before and holds now; what no longer holds is forgotten. */
  async #noteAlert(
    tx: Sql,
    alert: StoredAlert,
    project: Project,
    found: Look,
    nowMs: number,
  ): Promise<void> {
    const { firingSinceMs, definition: { on } } = alert;
    const fresh = found.noticed.filter(({ key }) => !alert.told.includes(key));
    const isFiring = found.noticed.length > 0;
    const isOver = firingSinceMs !== null && found.isKnown && !isFiring;
    const isNoted = await noteLook(tx, ALERTS, alert, {
      nextMs: nextLookMs(nowMs, EVERY_MS[on.kind]),
      problem: null,
      firingSinceMs: isFiring ? firingSinceMs ?? nowMs : isOver ? null : firingSinceMs,
      told: arrayLiteral(found.isKnown ? found.noticed.map(({ key }) => key) : [...alert.told]),
    });
    if (!isNoted) return;
    if (fresh.length > 0) await this.#raise(tx, alert, project, found, fresh, nowMs);
    if (isOver) await this.#recover(tx, alert, project, found, nowMs);
  }

  #alertMessage(
    alert: StoredAlert,
    project: Project,
    found: Look,
    noticed: readonly Noticed[],
    isTest: boolean,
  ) {
    const { slug, definition: { title } } = alert;
    const address = this.#services.publicUrl ?? alert.address;
    const leads = noticed.map(({ lead }) => lead);
    return alertMessage({ slug, title, project, look: found, leads, address, isTest });
  }

  /** Tells what is new. The first message of many is known by when it began, and so is its end. */
  async #raise(
    tx: Sql,
    alert: StoredAlert,
    project: Project,
    found: Look,
    fresh: readonly Noticed[],
    nowMs: number,
  ): Promise<void> {
    const { dueMs } = alert;
    const message = this.#alertMessage(alert, project, found, fresh, false);
    const occasion = iso(alert.firingSinceMs === null ? nowMs : dueMs);
    await this.#store(tx, alert, project, { source: "alert", occasion, message });
  }

  /** Tells that it is over, once, to whoever is told of the alert, unless they want none of it. */
  async #recover(
    tx: Sql,
    alert: StoredAlert,
    project: Project,
    found: Look,
    nowMs: number,
  ): Promise<void> {
    const { slug, firingSinceMs, definition: { title, recovery } } = alert;
    const { over } = found;
    if (!recovery || over === null || firingSinceMs === null) return;
    const address = this.#services.publicUrl ?? alert.address;
    const lastedMs = nowMs - firingSinceMs;
    const message = recoveryMessage({
      slug,
      title,
      project,
      look: found,
      address,
      over,
      lastedMs,
    });
    const occasion = iso(firingSinceMs);
    await this.#store(tx, alert, project, { source: "alert", occasion, message });
  }

  async #store(
    tx: Sql,
    { projectId, slug, definition: { to, webhooks } }: StoredDigest | StoredAlert,
    { id: project }: Project,
    told: Pick<NewDeliveries, "source" | "occasion" | "message">,
  ): Promise<string[]> {
    const nowMs = this.#services.now();
    return await storeDeliveries(tx, { ...told, projectId, project, slug, nowMs, to, webhooks });
  }

  /** A look that fails is noted, told in the list, and tried again later. */
  async #unlessItFails(
    kind: ToldKind,
    told: StoredDigest | StoredAlert,
    work: () => Promise<void>,
  ): Promise<void> {
    const { sql, log, now, stopping } = this.#services;
    try {
      await work();
    } catch (error) {
      // Its reads were broken off: the next server looks.
      if (stopping.aborted) return await releaseTold(sql, kind, told);
      const { projectId, slug } = told;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(`${kind.one} not looked at`, { projectId, slug, reason });
      await noteLook(sql, kind, told, {
        nextMs: nextLookMs(now(), FAILED_LOOK_AGAIN_MS),
        problem: sentenceOf(error),
        firingSinceMs: told.firingSinceMs,
        told: arrayLiteral([...told.told]),
      });
    }
  }

  /** Sends one message that is due. `id`: this one alone. False: none was, or none may set out. */
  async #send(id: string | null, signal: AbortSignal): Promise<boolean> {
    if (!this.#services.maySend()) return false;
    const sending = this.#sendOne(id, signal);
    this.#sending.add(sending);
    try {
      return await sending;
    } finally {
      this.#sending.delete(sending);
    }
  }

  async #sendOne(id: string | null, signal: AbortSignal): Promise<boolean> {
    const { sql, now } = this.#services;
    const delivery = await claimDelivery(sql, now(), this.#served, id);
    if (delivery === null) return false;
    const outcome = await sendDelivery(this.#services, delivery, signal);
    // A server that stops breaks off what it sends: that is no try.
    if (signal.aborted && outcome.status === "retry") await giveBack(sql, delivery);
    else await noteOutcome(sql, delivery, outcome, now());
    return true;
  }

  /** Sends a message now, each receiver once and without further tries. */
  async #sendTest(
    wanted: Receivers & { readonly projectId: number; readonly slug: string },
    project: Project,
    source: DeliverySource,
    message: Message,
    signal: AbortSignal,
  ): Promise<ShownDelivery[]> {
    const { sql, now, randomText } = this.#services;
    const { projectId, slug, to, webhooks } = wanted;
    const ids = await storeDeliveries(sql, {
      projectId,
      source,
      slug,
      message,
      to,
      webhooks,
      project: project.id,
      occasion: `test ${randomText(OCCASION_LENGTH)}`,
      nowMs: now(),
    });
    for (let i = 0; i < ids.length; i += SENDS_AT_ONCE) {
      const some = ids.slice(i, i + SENDS_AT_ONCE);
      await Promise.all(some.map((id) => this.#send(id, signal)));
    }
    return await shownDeliveries(sql, projectId, ids);
  }

  /** Sends a digest now, as it would be sent at its last time. Throws Problem. */
  async testDigest(digest: StoredDigest, signal: AbortSignal): Promise<ShownDelivery[]> {
    const { own, message } = await this.#messageOfDigest(digest, true);
    const { projectId, slug, definition: { to, webhooks } } = digest;
    return await this.#sendTest({ projectId, slug, to, webhooks }, own, "digest", message, signal);
  }

  /** Looks now, and sends what was found, whatever it is: what the alert remembers stays. Throws Problem. */
  async testAlert(alert: StoredAlert, signal: AbortSignal): Promise<ShownDelivery[]> {
    const { sql, reads, now } = this.#services;
    const project = await projectOf(sql, alert.projectId);
    const { projectId, slug, definition: { on, to, webhooks } } = alert;
    const found = await look({ reads, project, nowMs: now() }, on);
    const message = this.#alertMessage(alert, project, found, found.noticed, true);
    return await this.#sendTest(
      { projectId, slug, to, webhooks },
      project,
      "alert",
      message,
      signal,
    );
  }

  /** Sends a message without figures to a webhook. */
  async testWebhook(
    project: Project,
    slug: string,
    title: string,
    signal: AbortSignal,
  ): Promise<ShownDelivery[]> {
    const message: Message = {
      kind: "test",
      slug,
      title,
      subject: `Test: messages of ${project.name} arrive here`,
      isTest: true,
      sections: [],
    };
    const { projectId } = project;
    const wanted = { projectId, slug, to: [], webhooks: [slug] };
    return await this.#sendTest(wanted, project, "webhook", message, signal);
  }
}
