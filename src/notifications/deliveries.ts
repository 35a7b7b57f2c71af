import { createHash } from "node:crypto";
import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { pageRows, readAll, refuseUnknown } from "../query/parameters.ts";
import { encodeRowCursor, readRowCursor } from "../query/row_cursor.ts";
import { planByIndex } from "../db/index_plans.ts";
import { ServedProjects } from "../db/served_projects.ts";
import type { Message } from "./message.ts";
import type { Receivers } from "./receivers.ts";
import { DELIVERY_KEPT_MS, RETRY_AFTER_MS, SEND_CLAIM_MS } from "./notification_limits.ts";

/** log: there is no receiver, so the message is only listed. */
export type Channel = "mail" | "webhook" | "log";
export type DeliverySource = "digest" | "alert" | "webhook";
type DeliveryStatus = "waiting" | "sent" | "failed" | "dropped";

/** The source of a message, and its receiver. */
interface Addressed {
  readonly source: DeliverySource;
  readonly slug: string;
  readonly channel: Channel;
  /** An e-mail address, or the slug of a webhook. */
  readonly receiver: string;
}

/** A message to one receiver that is to be sent now. */
export interface DueDelivery extends Addressed {
  readonly id: string;
  readonly projectId: number;
  readonly message: Message;
  /** Tries before this one. */
  readonly tries: number;
  readonly createdAtMs: number;
}

/** The result of one try. */
export interface Outcome {
  readonly status: "sent" | "retry" | "failed" | "dropped";
  /** A sentence for people, without an address or a secret. */
  readonly words: string;
}

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * Returns the id of a message to a receiver. It is the same on every server and every time, so that the message is
 * stored once, and a receiver recognizes a repeat. `occasion`: which of a digest's or alert's messages it is.
 */
function deliveryId(
  { project, source, slug, occasion, channel, receiver }: Addressed & {
    readonly project: string;
    readonly occasion: string;
  },
): string {
  const text = [project, source, slug, occasion, channel, receiver].join("\0");
  return `msg_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}

/** The end of a recovery message's id; the rest is the id of the alert's message. */
const OVER = "-over";
const ID_LENGTH = "msg_".length + 32;

/** Returns the id of the alert's message that a recovery message is about; null: it is another message. */
export function raisedId(id: string): string | null {
  return id.endsWith(OVER) ? id.slice(0, ID_LENGTH) : null;
}

/** A message for all of its receivers. */
export interface NewDeliveries extends Receivers {
  readonly projectId: number;
  /** Public id. */
  readonly project: string;
  readonly source: DeliverySource;
  readonly slug: string;
  readonly occasion: string;
  readonly message: Message;
  readonly nowMs: number;
}

function receiversOf({ to, webhooks }: Receivers): (readonly [Channel, string])[] {
  const receivers: (readonly [Channel, string])[] = [
    ...to.map((email) => ["mail", email] as const),
    ...webhooks.map((name) => ["webhook", name] as const),
  ];
  return receivers.length === 0 ? [["log", ""]] : receivers;
}

/** Stores a message for each receiver, unless it is stored already. Returns their ids. */
export async function storeDeliveries(sql: Sql, wanted: NewDeliveries): Promise<string[]> {
  const { projectId, source, slug, message, nowMs } = wanted;
  const ids: string[] = [];
  for (const [channel, receiver] of receiversOf(wanted)) {
    const own = deliveryId({ ...wanted, channel, receiver });
    // A recovery message has the occasion of the alert's message.
    const id = message.kind === "recovery" ? `${own}${OVER}` : own;
    await sql.query(
      `INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message,
        created_at, due_at)
      VALUES ($1::text, $2::int, $3::text, $4::text, $5::text, $6::text, $7::text::jsonb,
        $8::text::timestamptz, $8::text::timestamptz) ON CONFLICT (delivery_id) DO NOTHING`,
      [id, projectId, source, slug, channel, receiver, JSON.stringify(message), iso(nowMs)],
    );
    ids.push(id);
  }
  return ids;
}

interface DueRow extends Addressed, Record<string, unknown> {
  delivery_id: string;
  project_id: number;
  message: Message;
  tries: number;
  created_at: Date;
}

const SENT_NOW_OF_PROJECT = ServedProjects.underWay(
  "SELECT s.project_id FROM deliveries s WHERE s.due_at IS NOT NULL AND s.claimed_until > now()",
);

const CLAIM = `UPDATE deliveries SET claimed_until = now() + $2::int8 * interval '1 ms'
WHERE delivery_no = (
  SELECT delivery_no FROM deliveries
  WHERE due_at <= $1::text::timestamptz AND (claimed_until IS NULL OR claimed_until <= now())
    AND ($3::text IS NULL OR delivery_id = $3::text)
    AND NOT EXISTS (
      SELECT FROM deliveries raised
      WHERE raised.delivery_id = left(deliveries.delivery_id, ${ID_LENGTH})
        AND raised.delivery_no < deliveries.delivery_no AND raised.due_at IS NOT NULL)
  ORDER BY ${SENT_NOW_OF_PROJECT}, ${ServedProjects.turn("$4")}, due_at, delivery_no
  LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING delivery_id, project_id, source, slug, channel, receiver, message, tries, created_at`;

/**
 * Claims the message that has waited longest, so that no other server sends it within SEND_CLAIM_MS. Projects with
 * fewer messages being sent go first, then the one that was `served` longest ago, so that receivers that do not
 * answer delay no other project. A recovery message waits for the alert's message. Null: none is due.
 * @param id only this message; null: any
 */
export async function claimDelivery(
  sql: Sql,
  nowMs: number,
  served = new ServedProjects(),
  id: string | null = null,
): Promise<DueDelivery | null> {
  const [row] = await sql.transaction(async (tx) => {
    await planByIndex(tx);
    return await tx.query<DueRow>(CLAIM, [iso(nowMs), SEND_CLAIM_MS, id, served.literal]);
  });
  if (row === undefined) return null;
  served.note(row.project_id);
  return {
    id: row.delivery_id,
    projectId: row.project_id,
    source: row.source,
    slug: row.slug,
    channel: row.channel,
    receiver: row.receiver,
    message: row.message,
    tries: row.tries,
    createdAtMs: row.created_at.getTime(),
  };
}

/** Stores the outcome of a try, and when the next one is; a test has only one. */
export async function noteOutcome(
  sql: Sql,
  { id, tries, message: { isTest } }: DueDelivery,
  { status, words }: Outcome,
  nowMs: number,
): Promise<void> {
  const waitMs = status === "retry" && !isTest ? RETRY_AFTER_MS[tries] : undefined;
  const final = status === "retry" ? "failed" : status;
  await sql.query(
    `UPDATE deliveries SET status = $2::text, tries = tries + 1, outcome = $3::text,
      due_at = $4::text::timestamptz, claimed_until = NULL, ended_at = $5::text::timestamptz
    WHERE delivery_id = $1::text`,
    [
      id,
      waitMs === undefined ? final : "waiting",
      words,
      waitMs === undefined ? null : iso(nowMs + waitMs),
      waitMs === undefined ? iso(nowMs) : null,
    ],
  );
}

/** Gives up the claim of a message that was not tried, as when the server stops. */
export async function giveBack(sql: Sql, { id }: DueDelivery): Promise<void> {
  await sql.query(
    "UPDATE deliveries SET claimed_until = NULL WHERE delivery_id = $1::text AND due_at IS NOT NULL",
    [id],
  );
}

/** A message and its state as replies show them. */
export const DeliveryShown = z.object({
  id: z.string().meta({
    description:
      "The `webhook-id` of a webhook, the Message-ID of a mail; repeats have the same. A recovery " +
      "message has the id of the alert's message and -over.",
    example: "msg_0123456789abcdef0123456789abcdef",
  }),
  at: z.iso.datetime().meta({ description: "When it was made." }),
  source: z.enum(["digest", "alert", "webhook"]),
  slug: z.string().meta({ description: "The digest's, alert's or webhook's." }),
  subject: z.string().meta({
    description: "The title instead, if a digest has a project that the token is not for.",
  }),
  isTest: z.boolean(),
  channel: z.enum(["mail", "webhook", "log"]).meta({
    description: "log: there is no receiver, so the message is only listed.",
  }),
  receiver: z.string().meta({
    description: "An e-mail address, or the slug of a webhook; empty for `log`.",
  }),
  status: z.enum(["waiting", "sent", "failed", "dropped"]).meta({
    description: "failed: no try is left; dropped: the receiver may not have it any more.",
  }),
  tries: z.int(),
  outcome: z.string().nullable().meta({
    description: "The result of the last try, in a sentence.",
  }),
  nextTryAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
}).meta({ id: "Delivery" });

export type ShownDelivery = z.output<typeof DeliveryShown>;

interface ListedRow extends Addressed, Record<string, unknown> {
  delivery_no: number;
  delivery_id: string;
  created_at: Date;
  subject: string;
  title: string;
  /** Public ids of the projects in it. */
  projects: string[];
  is_test: boolean;
  status: DeliveryStatus;
  tries: number;
  outcome: string | null;
  due_at: Date | null;
  ended_at: Date | null;
}

const LISTED = `SELECT delivery_no, delivery_id, created_at, source, slug,
  message->>'subject' AS subject, message->>'title' AS title,
  ARRAY(SELECT section->>'project' FROM jsonb_array_elements(message->'sections') AS section) AS projects,
  (message->>'isTest')::boolean AS is_test, channel, receiver, status,
  tries, outcome, due_at, ended_at FROM deliveries`;

/** @param seen the projects that the caller may see; a subject with figures of others is not shown */
function shown(row: ListedRow, seen: readonly string[] | "*"): ShownDelivery {
  const isSeen = seen === "*" || row.projects.every((project) => seen.includes(project));
  return {
    id: row.delivery_id,
    at: row.created_at.toISOString(),
    source: row.source,
    slug: row.slug,
    subject: isSeen ? row.subject : row.title,
    isTest: row.is_test,
    channel: row.channel,
    receiver: row.receiver,
    status: row.status,
    tries: row.tries,
    outcome: row.outcome,
    nextTryAt: row.due_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}

/** Returns the messages with these ids, in that order, for somebody who may see all of their projects. */
export async function shownDeliveries(
  sql: Sql,
  projectId: number,
  ids: readonly string[],
): Promise<ShownDelivery[]> {
  const found: ShownDelivery[] = [];
  for (const id of ids) {
    const [row] = await sql.query<ListedRow>(
      `${LISTED} WHERE project_id = $1::int AND delivery_id = $2::text`,
      [
        projectId,
        id,
      ],
    );
    if (row !== undefined) found.push(shown(row, "*"));
  }
  return found;
}

/** The parameters of `GET /v1/deliveries`, beside `project`. */
export const DELIVERY_QUERY: Readonly<Record<string, string>> = {
  limit: "Messages of a page, 1 to 1000. Default: 100",
  cursor: "`nextCursor` of the page before",
};

// No equality: the planner would drop the project from the order, and could go through the messages of all others.
const PAGE =
  `${LISTED} WHERE (project_id, delivery_no) < ($1::int, $2::int8) AND project_id >= $1::int
ORDER BY project_id DESC, delivery_no DESC LIMIT $3::int`;

/** A page of a project's messages, newest first. Throws `invalid_parameter`. */
export async function listDeliveries(
  sql: Sql,
  projectId: number,
  query: URLSearchParams,
  seen: readonly string[] | "*",
) {
  const { rows: wanted, cursor } = readAll({
    unknown: () => refuseUnknown(query, ["project", ...Object.keys(DELIVERY_QUERY)]),
    rows: () => pageRows(query),
    cursor: () => readRowCursor(query, 1),
  });
  const [last = Infinity] = cursor?.counts ?? [];
  // A cursor may be made up: a number that is none of a message bounds the list all the same.
  const before = Math.max(0, Math.min(Math.ceil(last), Number.MAX_SAFE_INTEGER));
  const found = await sql.transaction(async (tx) => {
    await planByIndex(tx);
    return await tx.query<ListedRow>(PAGE, [projectId, before, wanted + 1]);
  });
  const rows = found.slice(0, wanted);
  const oldest = rows.at(-1);
  const isMore = found.length > wanted && oldest !== undefined;
  return {
    rows: rows.map((row) => shown(row, seen)),
    nextCursor: isMore ? encodeRowCursor({ counts: [oldest.delivery_no], value: null }) : null,
  };
}

/** Drops the messages that wait for somebody who has unsubscribed. */
export async function dropWaiting(
  sql: Sql,
  { projectId, source, slug, receiver }: Pick<
    DueDelivery,
    "projectId" | "source" | "slug" | "receiver"
  >,
  nowMs: number,
): Promise<void> {
  await sql.query(
    `UPDATE deliveries SET status = 'dropped', outcome = 'They have unsubscribed.', due_at = NULL,
      ended_at = $5::text::timestamptz
    WHERE project_id = $1::int AND source = $2::text AND slug = $3::text AND channel = 'mail'
      AND receiver = $4::text AND due_at IS NOT NULL`,
    [projectId, source, slug, receiver, iso(nowMs)],
  );
}

/** Deletes messages older than DELIVERY_KEPT_MS. Returns how many there were. */
export async function deleteOldDeliveries(sql: Sql, nowMs: number): Promise<number> {
  const rows = await sql.query(
    "DELETE FROM deliveries WHERE created_at < $1::text::timestamptz RETURNING delivery_no",
    [iso(nowMs - DELIVERY_KEPT_MS)],
  );
  return rows.length;
}
