import { z } from "zod";
import { Email } from "../auth/people/people.ts";
import { SLUG } from "../query/slugs.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { invalidBody, Problem, type ProblemPart } from "../problem.ts";
import { RECEIVING_PEOPLE_MAX, RECEIVING_WEBHOOKS_MAX } from "./notification_limits.ts";

const different = (all: readonly string[]) => new Set(all).size === all.length;

/** The receivers of a digest or an alert; without any, its messages are only listed. */
export const ReceiverMembers = {
  to: z.array(Email).max(RECEIVING_PEOPLE_MAX, `Name at most ${RECEIVING_PEOPLE_MAX} people.`)
    .refine(different, "Name each of them once.").default([])
    .meta({
      description: "E-mail addresses of people who may see the project.",
      example: ["ada@example.com"],
    }),
  webhooks: z.array(
    z.string().regex(SLUG, "Give the slug of a webhook."),
  ).max(RECEIVING_WEBHOOKS_MAX, `Name at most ${RECEIVING_WEBHOOKS_MAX} webhooks.`)
    .refine(different, "Name each of them once.").default([])
    .meta({ description: "Slugs of webhooks of the project.", example: ["team-chat"] }),
};

export interface Receivers {
  readonly to: readonly string[];
  readonly webhooks: readonly string[];
}

/** Returns which of these people, by their e-mail addresses, may see all of these projects. */
export async function peopleWhoSee(
  sql: Sql,
  emails: readonly string[],
  projects: readonly string[],
): Promise<ReadonlySet<string>> {
  if (emails.length === 0) return new Set();
  const rows = await sql.query<{ email: string; projects: string[] }>(
    "SELECT email, projects FROM people WHERE email = ANY ($1::text::text[])",
    [arrayLiteral(emails)],
  );
  const may = rows.filter(({ projects: own }) =>
    own.includes("*") || projects.every((id) => own.includes(id))
  );
  return new Set(may.map(({ email }) => email));
}

async function knownWebhooks(sql: Sql, projectId: number, slugs: readonly string[]) {
  if (slugs.length === 0) return new Set<string>();
  const rows = await sql.query<{ slug: string }>(
    "SELECT slug FROM webhooks WHERE project_id = $1::int AND slug = ANY ($2::text::text[])",
    [projectId, arrayLiteral(slugs)],
  );
  return new Set(rows.map(({ slug }) => slug));
}

/**
 * Throws `mail_not_configured` if people are named and no mail server is configured, and `invalid_body` that names
 * everybody who may not see the projects, and every webhook that does not exist.
 */
export async function assertReceivers(
  sql: Sql,
  { to, webhooks }: Receivers,
  { projectId, projects, hasMail }: {
    readonly projectId: number;
    /** Public ids. */
    readonly projects: readonly string[];
    readonly hasMail: boolean;
  },
): Promise<void> {
  if (to.length > 0 && !hasMail) {
    throw new Problem(
      "mail_not_configured",
      "No mail server is configured: set SMTP_URL and SMTP_FROM, or send to webhooks alone.",
    );
  }
  const people = await peopleWhoSee(sql, to, projects);
  const known = await knownWebhooks(sql, projectId, webhooks);
  const fault = (field: string, message: string): ProblemPart => ({
    field,
    code: "invalid_value",
    message,
  });
  const errors = [
    ...to.flatMap((email, i) =>
      people.has(email)
        ? []
        : [fault(`to.${i}`, "This is nobody who may see the project. Invite them first.")]
    ),
    ...webhooks.flatMap((slug, i) =>
      known.has(slug) ? [] : [fault(`webhooks.${i}`, "There is no webhook of this name.")]
    ),
  ];
  if (errors.length === 0) return;
  throw invalidBody(errors);
}
