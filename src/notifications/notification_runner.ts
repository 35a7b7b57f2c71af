import { listProjects, type Project } from "../auth/projects.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { Problem } from "../problem.ts";
import { checkAlert, type CheckResult, type Noticed } from "./alert_check.ts";
import { EVERY_MS, nextCheckMs } from "./alert_definition.ts";
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
import {
  DIGEST_WAIT_MS_MAX,
  NOTIFICATION_RUN_MS_MAX,
  SENDS_AT_ONCE,
} from "./notification_limits.ts";
import type { NotificationReads } from "./notification_reads.ts";
import {
  ALERTS,
  claimNotification,
  DIGESTS,
  noteCheck,
  type NotificationKind,
  releaseNotification,
  type StoredAlert,
  type StoredDigest,
} from "./notification_store.ts";

export interface RunnerServices extends SendingServices {
  readonly reads: NotificationReads;
  readonly log: Pick<Log, "warn" | "error">;
  readonly randomText: (length: number) => string;
  /** Whether messages may be sent: not while their outcome could not be stored. */
  readonly maySend: () => boolean;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

const OCCASION_LENGTH = 22;
/** When a digest or an alert that failed is tried again. */
const FAILED_AGAIN_MS = 15 * 60_000;

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

/** Returns a digest's projects, in its order. */
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
 * Makes the digests, checks the alerts and sends the messages that are due. Several servers may each have a
 * runner: a digest, an alert or a message is claimed by one of them at a time, and a message's id makes sure that
 * it is stored once.
 */
export class NotificationRunner {
  readonly #services: RunnerServices;
  /** The messages that are being sent. */
  readonly #sending = new Set<Promise<boolean>>();
  readonly #served = new ServedProjects();

  constructor(services: RunnerServices) {
    this.#services = services;
  }

  /** Resolves once the outcome of every message that is being sent has been stored. */
  async sent(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  /** Does what is due, until nothing is, sending is not allowed, NOTIFICATION_RUN_MS_MAX have passed, or `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { maySend } = this.#services;
    const begunMs = performance.now();
    const mayContinue = () =>
      !signal.aborted && maySend() && performance.now() - begunMs < NOTIFICATION_RUN_MS_MAX;
    const makeAndCheck = async () => {
      while (mayContinue() && await this.#makeDigest());
      while (mayContinue() && await this.#checkAlert());
    };
    // Several at once, so that a receiver that does not answer delays no other.
    const sender = async () => {
      while (mayContinue() && await this.#send(null, signal));
    };
    const senders = () => Array.from({ length: SENDS_AT_ONCE }, sender);
    // Waiting messages are sent meanwhile, since the reads of a large project may take the whole run.
    await Promise.all([makeAndCheck(), ...senders()]);
    await Promise.all(senders());
  }

  /** Returns a digest's message for its last slot. Throws Problem. */
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
      // Only one that has waited before: where the server was down, its events are counted a moment after its start.
      mayWait: digest.problem === null || now() - slot.atMs < DIGEST_WAIT_MS_MAX,
    });
    return { own, slot, message };
  }

  /** Makes the messages of one due digest. False: none was due. */
  async #makeDigest(): Promise<boolean> {
    const { sql, now } = this.#services;
    const digest = await claimNotification<StoredDigest["definition"]>(sql, DIGESTS, now());
    if (digest === null) return false;
    await this.#orNoteFailure(DIGESTS, digest, async () => {
      const { own, slot, message } = await this.#messageOfDigest(digest, false);
      await sql.transaction(async (tx) => {
        // The zone may have changed while the message was made.
        const timezone = digest.definition.timezone ?? await holdProject(tx, digest.projectId);
        const nextMs = nextSlot(digest.definition, timezone, now()).atMs;
        if (!await noteCheck(tx, DIGESTS, digest, { nextMs, problem: null })) return;
        // With the period: a digest changed from daily to weekly may be due twice on one date.
        const occasion = `${digest.definition.every} ${slot.date}`;
        await this.#store(tx, digest, own, { source: "digest", occasion, message });
      });
    });
    return true;
  }

  /** Checks one due alert. False: none was due. */
  async #checkAlert(): Promise<boolean> {
    const { sql, reads, now } = this.#services;
    const alert = await claimNotification<StoredAlert["definition"]>(sql, ALERTS, now());
    if (alert === null) return false;
    await this.#orNoteFailure(ALERTS, alert, async () => {
      const project = await projectOf(sql, alert.projectId);
      const nowMs = now();
      const found = await checkAlert({ reads, project, nowMs }, alert.definition.on);
      await sql.transaction((tx) => this.#noteAlert(tx, alert, project, found, nowMs));
    });
    return true;
  }

  /** Stores the result of a check, and messages on new occurrences or on the end of the condition. */
  async #noteAlert(
    tx: Sql,
    alert: StoredAlert,
    project: Project,
    found: CheckResult,
    nowMs: number,
  ): Promise<void> {
    const { firingSinceMs, definition: { on } } = alert;
    const fresh = found.noticed.filter(({ key }) => !alert.told.includes(key));
    const isFiring = found.noticed.length > 0;
    const isOver = firingSinceMs !== null && found.isKnown && !isFiring;
    const isNoted = await noteCheck(tx, ALERTS, alert, {
      nextMs: nextCheckMs(nowMs, EVERY_MS[on.kind]),
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
    found: CheckResult,
    noticed: readonly Noticed[],
    isTest: boolean,
  ) {
    const { slug, definition: { title } } = alert;
    const address = this.#services.publicUrl ?? alert.address;
    const leads = noticed.map(({ lead }) => lead);
    return alertMessage({ slug, title, project, result: found, leads, address, isTest });
  }

  /**
   * Stores the message on new occurrences. The first one's occasion is the time at which the condition began to
   * hold, as is that of the recovery message.
   */
  async #raise(
    tx: Sql,
    alert: StoredAlert,
    project: Project,
    found: CheckResult,
    fresh: readonly Noticed[],
    nowMs: number,
  ): Promise<void> {
    const { dueMs } = alert;
    const message = this.#alertMessage(alert, project, found, fresh, false);
    const occasion = iso(alert.firingSinceMs === null ? nowMs : dueMs);
    await this.#store(tx, alert, project, { source: "alert", occasion, message });
  }

  /** Stores the recovery message, unless the alert does not want one. */
  async #recover(
    tx: Sql,
    alert: StoredAlert,
    project: Project,
    found: CheckResult,
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
      result: found,
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

  /** Does the work. If it fails, stores the reason for the list, and when to try again. */
  async #orNoteFailure(
    kind: NotificationKind,
    told: StoredDigest | StoredAlert,
    work: () => Promise<void>,
  ): Promise<void> {
    const { sql, log, now, stopping } = this.#services;
    try {
      await work();
    } catch (error) {
      // The stop aborted its reads: the next server takes over.
      if (stopping.aborted) return await releaseNotification(sql, kind, told);
      const { projectId, slug } = told;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(kind === DIGESTS ? "digest not made" : "alert not checked", {
        projectId,
        slug,
        reason,
      });
      await noteCheck(sql, kind, told, {
        nextMs: nextCheckMs(now(), FAILED_AGAIN_MS),
        problem: sentenceOf(error),
        firingSinceMs: told.firingSinceMs,
        told: arrayLiteral([...told.told]),
      });
    }
  }

  /** Sends one due message; `id`: only this one. False: none was due, or none may be sent. */
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
    // The stop aborted it: this does not count as a try.
    if (signal.aborted && outcome.status === "retry") await giveBack(sql, delivery);
    else await noteOutcome(sql, delivery, outcome, now());
    return true;
  }

  /** Sends a message to each of its receivers now, with one try. */
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

  /** Sends the message of a digest's last slot now. Throws Problem. */
  async testDigest(digest: StoredDigest, signal: AbortSignal): Promise<ShownDelivery[]> {
    const { own, message } = await this.#messageOfDigest(digest, true);
    const { projectId, slug, definition: { to, webhooks } } = digest;
    return await this.#sendTest({ projectId, slug, to, webhooks }, own, "digest", message, signal);
  }

  /** Checks an alert now, and sends the result in any case, without a change of its state. Throws Problem. */
  async testAlert(alert: StoredAlert, signal: AbortSignal): Promise<ShownDelivery[]> {
    const { sql, reads, now } = this.#services;
    const project = await projectOf(sql, alert.projectId);
    const { projectId, slug, definition: { on, to, webhooks } } = alert;
    const found = await checkAlert({ reads, project, nowMs: now() }, on);
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
