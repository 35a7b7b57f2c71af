import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import { Problem } from "../../problem.ts";
import type { ApiExchange } from "../access.ts";
import { askedBy } from "../audited.ts";
import { judgeAttempt } from "./attempts.ts";
import { requireCredentials } from "./credentials.ts";
import { expireLinksOf } from "./links.ts";
import { assertGoodPassword, hashPassword } from "./passwords.ts";
import {
  changePerson,
  lockWithOwners,
  passwordOf,
  PersonName,
  personReply,
  PersonShown,
  requirePerson,
  setPassword,
} from "./people.ts";
import { PASSWORD_LENGTH_MAX } from "./people_limits.ts";
import { endSession, endSessions, listSessions } from "./sessions.ts";
import { Password, type PeopleServices } from "./sign_in_endpoints.ts";
import { endedCookie, requireSignedIn } from "./signed_in.ts";

/** Reply of `GET /v1/auth/account`. */
export const AccountShown = z.object({
  person: PersonShown,
  hasPassword: z.boolean().meta({ description: "False: they sign in by other means alone." }),
}).meta({ id: "Account" });

/** Body of `PATCH /v1/auth/account`. */
export const AccountChange = z.strictObject({ name: PersonName }).meta({ id: "AccountChange" });

/** Reply of `GET /v1/auth/sessions`. */
export const SessionsShown = z.object({
  sessions: z.array(z.object({
    id: z.string().meta({ example: "ses_0aB1cD2eF3gH4iJ5kL6mN7" }),
    device: z.string().nullable().meta({ example: "Firefox on Windows" }),
    place: z.string().nullable().meta({ example: "Berlin, DE" }),
    address: z.string().nullable().meta({ description: "As IP_STORAGE has addresses stored." }),
    createdAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    current: z.boolean().meta({ description: "Whether it is the one that asks." }),
  })),
}).meta({ id: "Sessions" });

/** Body of `POST /v1/auth/password`. */
export const PasswordChange = z.strictObject({
  current: z.string().max(PASSWORD_LENGTH_MAX).nullable().default(null)
    .meta({ description: "The password until now; null: there is none." }),
  next: Password,
}).meta({ id: "PasswordChange" });

/** `GET /v1/auth/account`: who is signed in. */
export async function getAccount({ sql }: PeopleServices, { who }: ApiExchange): Promise<Response> {
  const { person } = requireSignedIn(who);
  const hasPassword = await passwordOf(sql, person.id) !== null;
  return json({ person: personReply(person), hasPassword });
}

/** `PATCH /v1/auth/account`: changes one's own name. */
export async function patchAccount(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { person } = requireSignedIn(exchange.who);
  const { name } = await readJson(exchange.request, AccountChange);
  const changed = await services.sql.transaction(async (inside) => {
    await lockWithOwners(inside, person.id);
    const before = await requirePerson(inside, person.id);
    const after = await changePerson(inside, person.id, { name });
    if (after.name !== before.name) {
      await recordAudit(inside, {
        ...askedBy(services, exchange),
        what: "person.change",
        subject: `${after.email}: ${after.name}`,
      });
    }
    return after;
  });
  return json({ person: personReply(changed) });
}

/** `GET /v1/auth/sessions`: `{ sessions }`, one's own, most recently used first. */
export async function getSessions(
  { sql, now }: PeopleServices,
  { who }: ApiExchange,
): Promise<Response> {
  const { person, sessionId } = requireSignedIn(who);
  const sessions = await listSessions(sql, person.id, now());
  return json({
    sessions: sessions.map((session) => ({ ...session, current: session.id === sessionId })),
  });
}

/** `DELETE /v1/auth/sessions/:id`: 204; it ends on every server within a second. */
export async function deleteSession(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, liveSessions, facts } = services;
  const { person, sessionId } = requireSignedIn(exchange.who);
  const id = exchange.params.id ?? "";
  await sql.transaction(async (inside) => {
    await endSession(inside, person.id, id);
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "session.end",
      subject: `one of ${person.email}`,
    });
  });
  liveSessions.invalidate();
  const headers = id === sessionId ? { "Set-Cookie": endedCookie(exchange, facts) } : {};
  return new Response(null, { status: 204, headers });
}

/** `DELETE /v1/auth/sessions`: 204; ends all of one's own sessions, including this one. */
export async function deleteSessions(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, liveSessions, facts } = services;
  const { person } = requireSignedIn(exchange.who);
  await sql.transaction(async (inside) => {
    await endSessions(inside, person.id);
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "session.end",
      subject: `all of ${person.email}`,
    });
  });
  liveSessions.invalidate();
  return new Response(null, {
    status: 204,
    headers: { "Set-Cookie": endedCookie(exchange, facts) },
  });
}

function notCurrent(): Problem {
  const message = "This is not your password.";
  return new Problem("invalid_credentials", message, {
    errors: [{ field: "current", code: "invalid_value", message }],
  });
}

/** `POST /v1/auth/password`: 204; ends one's other sessions, and one's links for a new password. */
export async function postPassword(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, clientAddress, liveSessions } = services;
  const { person, sessionId } = requireSignedIn(exchange.who);
  const { current, next } = await readJson(exchange.request, PasswordChange);
  const { email, id: personId } = person;
  const address = clientAddress(exchange.peer, exchange.request.headers);
  const attempt = { email, address, nowMs: now() };
  await assertGoodPassword(next, { field: "next", own: [email, person.name] });
  // Hashed only within a counted attempt, since everybody's hashes wait for each other.
  let password = "";
  const hash = async () => void (password = await hashPassword(next));
  const change = async (inside: typeof sql) => {
    await setPassword(inside, { personId, password, nowMs: now() });
    await endSessions(inside, personId, sessionId);
    await expireLinksOf(inside, personId, now());
    const by = askedBy(services, exchange);
    await recordAudit(inside, { ...by, what: "password.change", subject: email });
  };
  if (current !== null) {
    const use = { use: change, beforehand: hash, refused: notCurrent };
    await requireCredentials(sql, attempt, current, use);
  } else {
    await judgeAttempt(sql, attempt, async () => {
      await hash();
      await sql.transaction(async (inside) => {
        if (await passwordOf(inside, personId) !== null) {
          throw new Problem("invalid_credentials", "Give the password until now as `current`.");
        }
        await change(inside);
      });
    });
  }
  liveSessions.invalidate();
  return new Response(null, { status: 204 });
}
