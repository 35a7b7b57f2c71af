import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import { readJsonOfAnyone } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { ApiExchange } from "../access.ts";
import { requireLink, useLink } from "./links.ts";
import { assertGoodPassword, hashPassword } from "./passwords.ts";
import {
  changePerson,
  Email,
  lockWithOwners,
  PersonName,
  personReply,
  requirePerson,
  RoleName,
  setPassword,
} from "./people.ts";
import { endSessions } from "./sessions.ts";
import {
  assertSignsIn,
  enteringAs,
  LinkSecret,
  Password,
  type PeopleServices,
} from "./sign_in_endpoints.ts";
import { assertOwnOrigin, signIn } from "./signed_in.ts";

/** Body of `POST /v1/auth/invitation`. */
export const InvitationUse = z.strictObject({
  token: LinkSecret,
  name: PersonName.optional(),
  password: Password,
}).meta({ id: "InvitationUse" });

/** Body of `POST /v1/auth/reset`. */
export const ResetUse = z.strictObject({ token: LinkSecret, password: Password })
  .meta({ id: "ResetUse" });

/** Body of `POST /v1/auth/invitation/look`. */
export const LinkLook = z.strictObject({ token: LinkSecret }).meta({ id: "LinkLook" });

/** Reply of `POST /v1/auth/invitation/look`. */
export const LinkShown = z.object({
  kind: z.enum(["invitation", "reset"]),
  email: Email,
  name: PersonName,
  role: RoleName,
  expiresAt: z.iso.datetime(),
}).meta({ id: "Link" });

/** `POST /v1/auth/invitation/look`: the person of a link, which stays usable. */
export async function postLinkLook(
  { sql, now }: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { token: secret } = await readJsonOfAnyone(exchange.request, LinkLook);
  const { kind, personId, expiresAt } = await requireLink(sql, {
    secret,
    isOwner: false,
    nowMs: now(),
  });
  const { email, name, role } = await requirePerson(sql, personId ?? "");
  return json({ kind, email, name, role, expiresAt });
}

/** Uses up a person's link: sets their password, and signs them in. */
async function useLinkOf(
  services: PeopleServices,
  exchange: ApiExchange,
  { token: secret, name, password }: z.output<typeof InvitationUse>,
): Promise<Response> {
  const { sql, now, liveSessions } = services;
  const link = { secret, isOwner: false };
  const { personId } = await requireLink(sql, { ...link, nowMs: now() });
  const invited = await requirePerson(sql, personId ?? "");
  await assertGoodPassword(password, {
    field: "password",
    own: [invited.email, name ?? invited.name],
  });
  const hash = await hashPassword(password);
  const { person, cookie } = await sql.transaction(async (inside) => {
    await lockWithOwners(inside, invited.id);
    const nowMs = now();
    await requireLink(inside, { ...link, nowMs, lock: true });
    await useLink(inside, secret, nowMs);
    await setPassword(inside, { personId: invited.id, password: hash, nowMs });
    await endSessions(inside, invited.id);
    await recordAudit(inside, {
      ...enteringAs(services, exchange, invited.email),
      what: invited.joinedAt === null ? "person.join" : "password.change",
      subject: invited.email,
    });
    const person = await changePerson(inside, invited.id, { name });
    const cookie = await signIn({ ...services, sql: inside }, exchange, person.id);
    return { person, cookie };
  });
  liveSessions.invalidate();
  return json({ person: personReply(person) }, 200, { "Set-Cookie": cookie });
}

/** `POST /v1/auth/invitation`: 200 with the person, who now has a password and is signed in. */
export async function postInvitationUse(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  assertOwnOrigin(exchange, services.facts, false);
  assertSignsIn(services);
  return await useLinkOf(
    services,
    exchange,
    await readJsonOfAnyone(exchange.request, InvitationUse),
  );
}

/** `POST /v1/auth/reset`: 200 with the person; ends all sessions except the new one. */
export async function postReset(
  services: PeopleServices,
  exchange: ApiExchange,
): Promise<Response> {
  assertOwnOrigin(exchange, services.facts, false);
  assertSignsIn(services);
  return await useLinkOf(services, exchange, await readJsonOfAnyone(exchange.request, ResetUse));
}
