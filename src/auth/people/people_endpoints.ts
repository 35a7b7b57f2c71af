import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import { invalidBody, Problem } from "../../problem.ts";
import {
  type ApiExchange,
  type Principal,
  requireEveryProject,
  requirePrincipal,
} from "../access.ts";
import { askedBy } from "../audited.ts";
import { assertMayGrant, assertProjectsExist } from "../grants.ts";
import { type Role, scopesOf } from "../roles.ts";
import { makeLink } from "./links.ts";
import { mailInvitation, type NewInvitation } from "./mailed_invitation.ts";
import { assertGoodPassword, hashPassword } from "./passwords.ts";
import {
  changePerson,
  createPerson,
  Email,
  listPeople,
  lockWithOwners,
  type Person,
  PersonName,
  PersonProjects,
  personReply,
  PersonShown,
  removePerson,
  requirePerson,
  RoleName,
} from "./people.ts";
import { Password, type PeopleServices } from "./sign_in_endpoints.ts";

/** Body of `POST /v1/people`. */
export const PersonCreation = z.strictObject({
  email: Email,
  name: PersonName.optional().meta({ description: "Default: what stands before the @." }),
  role: RoleName,
  projects: PersonProjects.optional().meta({
    description: "An owner's are all of them; the others' must be named.",
  }),
  password: Password.optional().meta({
    description: "With one they can sign in at once, and there is no invitation.",
  }),
}).meta({ id: "PersonCreation" });

/** Body of `PATCH /v1/people/:id`. */
export const PersonChange = z.strictObject({
  name: PersonName,
  role: RoleName,
  projects: PersonProjects,
}).partial().meta({ id: "PersonChange" });

export const InvitationShown = z.object({
  url: z.string().meta({ example: "https://stats.example.com/#invitation=…" }),
  expiresAt: z.iso.datetime(),
  mailed: z.boolean().meta({ description: "Whether it was mailed to them (SMTP_URL)." }),
  mailProblem: z.string().nullable().meta({
    description: "Why it could not be mailed; the link holds all the same.",
  }),
}).meta({ id: "Invitation" });

/** Reply of `POST /v1/people` and `POST /v1/people/:id/invitation`. */
export const PersonInvited = z.object({
  person: PersonShown,
  invitation: InvitationShown.nullable(),
}).meta({ id: "InvitedPerson" });

function projectWords(projects: readonly string[] | "*"): string {
  return projects === "*" ? "every project" : projects.join(", ");
}

/**
 * Throws `insufficient_scope` unless the principal has all scopes of these roles: with the scope `people` alone,
 * a token could otherwise make itself an owner.
 */
async function assertMayManage(
  sql: Sql,
  who: Principal | null,
  roles: readonly Role[],
): Promise<void> {
  const scopes = roles.flatMap((role) => scopesOf(role));
  await assertMayGrant(sql, requirePrincipal(who), { projects: "*", scopes });
}

/** Returns the projects that a body gives a person: all to an owner, else those it names. Throws `invalid_body`. */
async function projectsOf(
  sql: Sql,
  role: Role,
  wanted: readonly string[] | undefined,
): Promise<readonly string[] | "*"> {
  const projects = wanted?.includes("*") ? "*" : wanted;
  if (role === "owner" && (projects ?? "*") !== "*") {
    throw invalidProjects('An owner is for every project: `["*"]`, or leave it out.');
  }
  if (role === "owner" || projects === "*") return "*";
  if (projects === undefined) throw invalidProjects('Name the projects, or `["*"]` for all.');
  await assertProjectsExist(sql, projects);
  return projects;
}

function invalidProjects(message: string): Problem {
  return invalidBody([{ field: "projects", code: "invalid_value", message }]);
}

/** `GET /v1/people`: `{ people }`, oldest first. */
export async function getPeople({ sql }: PeopleServices, { who }: ApiExchange): Promise<Response> {
  requireEveryProject(requirePrincipal(who));
  return json({ people: (await listPeople(sql)).map(personReply) });
}

/** Makes a link: an invitation for a person who has not joined yet, else one for a new password. */
async function invitationOf(
  { now, facts }: PeopleServices,
  sql: Sql,
  { request, peer }: ApiExchange,
  { id, joinedAt }: Person,
): Promise<NewInvitation> {
  const kind = joinedAt === null ? "invitation" : "reset";
  const { secret, expiresAt } = await makeLink(sql, { kind, personId: id, nowMs: now() });
  // The fragment stays in the browser: no server or proxy log sees the secret.
  return { kind, url: `${facts.ownAddress(request, peer).url}/#${kind}=${secret}`, expiresAt };
}

/** `POST /v1/people`: 201 `{ person, invitation }`. */
export async function postPerson(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now } = services;
  requireEveryProject(requirePrincipal(exchange.who));
  const { email, name, role, projects, password } = await readJson(
    exchange.request,
    PersonCreation,
  );
  await assertMayManage(sql, exchange.who, [role]);
  const granted = await projectsOf(sql, role, projects);
  const called = name ?? email.split("@")[0] ?? email;
  if (password !== undefined) {
    await assertGoodPassword(password, { field: "password", own: [email, called] });
  }
  const hash = password === undefined ? null : await hashPassword(password);
  const { person, made } = await sql.transaction(async (inside) => {
    const person = await createPerson(inside, {
      email,
      name: called,
      role,
      projects: granted,
      password: hash,
      hasJoined: hash !== null,
      nowMs: now(),
    });
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "person.invite",
      subject: `${email} as ${role} of ${projectWords(person.projects)}`,
    });
    const made = hash === null ? await invitationOf(services, inside, exchange, person) : null;
    return { person, made };
  });
  const { who } = askedBy(services, exchange);
  const invitation = made === null ? null : await mailInvitation(services.mail, person, made, who);
  const location = `${exchange.url.pathname}/${person.id}`;
  return json({ person: personReply(person), invitation }, 201, { "Location": location });
}

/** `PATCH /v1/people/:id`: the changed person. New rights end their tokens: see `changePerson`. */
export async function patchPerson(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, liveSessions, signInWays } = services;
  const issuer = signInWays.oidc?.issuer ?? null;
  requireEveryProject(requirePrincipal(exchange.who));
  const patch = await readJson(exchange.request, PersonChange);
  const id = exchange.params.id ?? "";
  const changed = await sql.transaction(async (inside) => {
    // Before the person is read, since what is read is written back.
    await lockWithOwners(inside, id);
    const before = await requirePerson(inside, id);
    const role = patch.role ?? before.role;
    await assertMayManage(inside, exchange.who, [before.role, role]);
    const isKept = patch.projects === undefined && role !== "owner";
    const projects = isKept ? before.projects : await projectsOf(inside, role, patch.projects);
    const after = await changePerson(inside, id, { name: patch.name, role, projects }, issuer);
    const hasOtherRights = after.rights !== before.rights;
    if (hasOtherRights || after.name !== before.name) {
      await recordAudit(inside, {
        ...askedBy(services, exchange),
        what: hasOtherRights ? "person.role" : "person.change",
        subject: hasOtherRights
          ? `${after.email}: ${after.role} of ${projectWords(after.projects)}`
          : `${after.email}: ${after.name}`,
      });
    }
    return after;
  });
  liveSessions.invalidate();
  return json({ person: personReply(changed) });
}

/** `DELETE /v1/people/:id`: 204; they are signed out on every server within a second. */
export async function deletePerson(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, liveSessions, signInWays } = services;
  const issuer = signInWays.oidc?.issuer ?? null;
  requireEveryProject(requirePrincipal(exchange.who));
  const id = exchange.params.id ?? "";
  await sql.transaction(async (inside) => {
    await lockWithOwners(inside, id);
    const { role } = await requirePerson(inside, id);
    await assertMayManage(inside, exchange.who, [role]);
    const { email } = await removePerson(inside, id, issuer);
    const by = askedBy(services, exchange);
    await recordAudit(inside, { ...by, what: "person.remove", subject: `${email}, ${role}` });
  });
  liveSessions.invalidate();
  return new Response(null, { status: 204 });
}

/** `POST /v1/people/:id/invitation`: 201 `{ person, invitation }`, with a link that replaces earlier ones. */
export async function postInvitation(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  requireEveryProject(requirePrincipal(exchange.who));
  const id = exchange.params.id ?? "";
  const { person, made } = await services.sql.transaction(async (inside) => {
    await lockWithOwners(inside, id);
    const person = await requirePerson(inside, id);
    await assertMayManage(inside, exchange.who, [person.role]);
    const by = askedBy(services, exchange);
    const what = person.joinedAt === null ? "person.invite" as const : "person.reset" as const;
    await recordAudit(inside, { ...by, what, subject: person.email });
    return { person, made: await invitationOf(services, inside, exchange, person) };
  });
  const { who } = askedBy(services, exchange);
  const invitation = await mailInvitation(services.mail, person, made, who);
  return json({ person: personReply(person), invitation }, 201);
}
