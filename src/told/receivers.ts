import { z } from "zod";
import { Email, type Person } from "../auth/people/people.ts";
import { SLUG } from "../query/slugs.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { invalidBody, Problem, type ProblemPart } from "../problem.ts";
import { TOLD_PEOPLE_MAX, TOLD_WEBHOOKS_MAX } from "./told_limits.ts";

const different = (all: readonly string[]) => new Set(all).size === all.length;

/** To whom something is told; nobody: it stands in the list of messages alone. */
export const ReceiverMembers = {
  to: z.array(Email).max(TOLD_PEOPLE_MAX, `Name at most ${TOLD_PEOPLE_MAX} people.`)
    .refine(different, "Name each of them once.").default([])
    .meta({
      description: "E-mail addresses of people who may see the project.",
      example: ["ada@example.com"],
    }),
  webhooks: z.array(
    z.string().regex(SLUG, "Give the slug of a webhook."),
  ).max(TOLD_WEBHOOKS_MAX, `Name at most ${TOLD_WEBHOOKS_MAX} webhooks.`)
    .refine(different, "Name each of them once.").default([])
    .meta({ description: "Slugs of webhooks of the project.", example: ["team-chat"] }),
};

/** To whom something is told, read. */
export interface Receivers {
  readonly to: readonly string[];
  readonly webhooks: readonly string[];
}

function mayAllSee(projects: Person["projects"], wanted: readonly string[]): boolean {
  return projects === "*" || wanted.every((id) => projects.includes(id));
}

/** Which of these people may see all of these projects, by their e-mail addresses. */
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
    mayAllSee(own.includes("*") ? "*" : own, projects)
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
 * Throws `mail_not_configured` where people are named and no mail can be sent, and `invalid_body` that
 * names everybody who may not see the projects, and every webhook that is not there.
 */
export async function assertReceivers(
  sql: Sql,
  { to, webhooks }: Receivers,
  { projectId, projects, hasMail }: {
    readonly projectId: number;
    /** Public ids of what is told of. */
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
