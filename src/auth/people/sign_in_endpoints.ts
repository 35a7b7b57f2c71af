import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import type { Sql } from "../../db/sql.ts";
import { readJsonOfAnyone } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { Mail } from "../../mail/mail.ts";
import { Problem } from "../../problem.ts";
import type { ApiExchange } from "../access.ts";
import type { AuditServices } from "../audited.ts";
import { issuedElsewhere, type Tokens } from "../tokens.ts";
import { requireCredentials } from "./credentials.ts";
import { requireLink, useLink } from "./links.ts";
import type { LiveSessions } from "./live_sessions.ts";
import { assertGoodPassword, hashPassword } from "./passwords.ts";
import {
  createPerson,
  Email,
  findPersonByEmail,
  ownerExists,
  PersonName,
  personReply,
  PersonShown,
  removePerson,
} from "./people.ts";
import { EMAIL_LENGTH_MAX, PASSWORD_LENGTH_MAX, SESSION_TOKEN_S } from "./people_limits.ts";
import { endSessionOfSecret } from "./sessions.ts";
import {
  assertOwnOrigin,
  cookieSecretOf,
  endedCookie,
  type RequestFacts,
  requireSignedIn,
  sessionCookie,
  signIn,
} from "./signed_in.ts";

export interface PeopleServices extends AuditServices {
  readonly sql: Sql;
  readonly now: () => number;
  readonly tokens: Tokens;
  readonly facts: RequestFacts;
  readonly liveSessions: Pick<LiveSessions, "invalidate">;
  /** Null: no mail server is configured. */
  readonly mail: Mail | null;
  /** Ways to sign in besides a password. */
  readonly signInWays: {
    /** Whether browsers take passkeys at the address that was asked. */
    readonly passkeys: (exchange: Pick<ApiExchange, "request" | "peer">) => boolean;
    readonly oidc: { readonly name: string; readonly issuer: string } | null;
  };
}

export const Password = z.string().max(
  PASSWORD_LENGTH_MAX,
  `Use at most ${PASSWORD_LENGTH_MAX} characters.`,
)
  .refine((text) => text.isWellFormed(), "Use text without lone surrogates.")
  .meta({
    description: "At least 10 characters; a few words will do. None that many people have.",
  });
export const LinkSecret = z.string().max(200).meta({
  description: "What the link holds after its `#…=`.",
});

/** Reply of `GET /v1/auth`. */
export const SignInOffer = z.object({
  ownerExists: z.boolean(),
  password: z.boolean().meta({
    description: "False where an identity provider issues the tokens.",
  }),
  passkeys: z.boolean(),
  oidc: z.object({ name: z.string() }).nullable(),
}).meta({ id: "SignInOffer" });

/** Body of `POST /v1/auth/owner`. */
export const OwnerCreation = z.strictObject({
  setupToken: LinkSecret,
  email: Email,
  name: PersonName,
  password: Password,
}).meta({ id: "OwnerCreation" });

/** Body of `POST /v1/auth/sign-in`. An e-mail that nobody can have is treated as unknown, not as malformed. */
export const Credentials = z.strictObject({
  email: z.string().max(EMAIL_LENGTH_MAX * 2).meta({ example: "ada@example.com" }),
  password: z.string().max(PASSWORD_LENGTH_MAX),
}).meta({ id: "Credentials" });

/** Reply to a sign-in. */
export const SignedInShown = z.object({ person: PersonShown }).meta({ id: "SignedIn" });

/** Reply of `POST /v1/auth/token`. */
export const PersonToken = z.object({
  token: z.string(),
  expiresAt: z.iso.datetime(),
  person: PersonShown,
}).meta({ id: "PersonToken" });

/** `GET /v1/auth`: what the sign-in page may offer. */
export async function getAuth(
  { sql, tokens, signInWays }: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { passkeys, oidc } = signInWays;
  const isHere = tokens.canIssue;
  return json({
    ownerExists: await ownerExists(sql),
    password: isHere,
    passkeys: isHere && passkeys(exchange),
    oidc: isHere && oidc !== null ? { name: oidc.name } : null,
  });
}

/** Throws `conflict` if an identity provider issues the tokens: then nobody signs in here. */
export function assertSignsIn({ tokens }: PeopleServices): void {
  if (!tokens.canIssue) throw issuedElsewhere();
}

/** Who sent a request, and from where, as the audit records it, of somebody who is not signed in yet. */
export function enteringAs(
  services: AuditServices,
  { peer, request }: ApiExchange,
  email: string,
): { readonly who: string; readonly from: string | null } {
  return { who: email, from: services.clientAddress(peer, request.headers) };
}

/** `POST /v1/auth/owner`: 201 with the first owner, signed in. Throws `owner_exists`. */
export async function postOwner(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, facts } = services;
  assertOwnOrigin(exchange, facts, false);
  assertSignsIn(services);
  if (await ownerExists(sql)) throw ownerIsThere();
  const { setupToken: secret, email, name, password } = await readJsonOfAnyone(
    exchange.request,
    OwnerCreation,
  );
  await requireLink(sql, { secret, isOwner: true, nowMs: now() });
  await assertGoodPassword(password, { field: "password", own: [email, name] });
  const hash = await hashPassword(password);
  const { person, cookie } = await sql.transaction(async (inside) => {
    // One at a time, so that two links used at once make only one owner.
    await inside.query("LOCK TABLE people IN SHARE ROW EXCLUSIVE MODE");
    if (await ownerExists(inside)) throw ownerIsThere();
    const nowMs = now();
    await requireLink(inside, { secret, isOwner: true, nowMs });
    await useLink(inside, secret, nowMs);
    // Somebody who was invited, and uses the set-up link instead.
    const invited = await findPersonByEmail(inside, email);
    if (invited?.joinedAt === null) await removePerson(inside, invited.id, null);
    const person = await createPerson(inside, {
      email,
      name,
      role: "owner",
      projects: "*",
      password: hash,
      hasJoined: true,
      nowMs,
    });
    await recordAudit(inside, {
      ...enteringAs(services, exchange, email),
      what: "owner.create",
      subject: email,
    });
    const cookie = await signIn({ ...services, sql: inside }, exchange, person.id);
    return { person, cookie };
  });
  return json({ person: personReply(person) }, 201, { "Set-Cookie": cookie });
}

function ownerIsThere(): Problem {
  return new Problem(
    "owner_exists",
    "This server has an owner. Sign in, or ask them to invite you.",
  );
}

/** `POST /v1/auth/sign-in`: 200 with the person, and the cookie of a new session. */
export async function postSignIn(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, facts, clientAddress } = services;
  assertOwnOrigin(exchange, facts, false);
  assertSignsIn(services);
  const { email, password } = await readJsonOfAnyone(exchange.request, Credentials);
  const attempt = {
    email: Email.safeParse(email).data ?? "",
    address: clientAddress(exchange.peer, exchange.request.headers),
    nowMs: now(),
  };
  const { person, cookie } = await requireCredentials(
    sql,
    attempt,
    password,
    {
      use: async (inside, person) => ({
        person,
        cookie: await signIn({ ...services, sql: inside }, exchange, person.id),
      }),
    },
  );
  return json({ person: personReply(person) }, 200, { "Set-Cookie": cookie });
}

/** `POST /v1/auth/sign-out`: 204; ends the session, and removes the cookie. */
export async function postSignOut(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, facts, liveSessions } = services;
  assertOwnOrigin(exchange, facts, true);
  const secret = cookieSecretOf(exchange, facts);
  if (secret !== null) {
    await endSessionOfSecret(sql, secret);
    liveSessions.invalidate();
  }
  return new Response(null, {
    status: 204,
    headers: { "Set-Cookie": endedCookie(exchange, facts) },
  });
}

/** `POST /v1/auth/token`: `{ token, expiresAt, person }`, for the cookie's person. */
export async function postPersonToken(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { tokens, facts } = services;
  assertSignsIn(services);
  const { person, subject, projects, scopes, session, secret } = requireSignedIn(exchange.who);
  const token = await tokens.issue({
    subject,
    projects,
    scopes: [...scopes],
    ttlSeconds: SESSION_TOKEN_S,
    session,
  });
  const { expiresAtMs } = await tokens.verify(token);
  const reply = {
    token,
    expiresAt: new Date(expiresAtMs).toISOString(),
    person: personReply(person),
  };
  // Each use extends the cookie.
  return json(reply, 200, { "Set-Cookie": sessionCookie(exchange, facts, secret) });
}
