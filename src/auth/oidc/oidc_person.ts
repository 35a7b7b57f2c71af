import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { type Role, ROLES } from "../roles.ts";
import {
  changePerson,
  createPerson,
  Email,
  findPersonByEmail,
  type Person,
  PERSON_COLUMNS,
  PersonName,
  personOfRow,
} from "../people/people.ts";
import { expireLinksOf, useLink } from "../people/links.ts";
import type { OidcClaims, OidcSettings } from "./oidc_provider.ts";

/** At providers whose roles serve several programs, ours may have this prefix. */
const PREFIX = "footfall-";

/** Returns the highest role that the claim names. Null: it names none. */
function claimedRole(roles: readonly string[] | null): Role | null {
  const named = new Set(roles?.map((role) => role.toLowerCase().replace(PREFIX, "")));
  return ROLES.find((role) => named.has(role)) ?? null;
}

/** Why somebody whom the provider has authenticated may not sign in here. */
export type RefusalReason = "no_email" | "unverified" | "uninvited" | "address_taken";

/** The provider has authenticated somebody who may not sign in here. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
  constructor(readonly reason: RefusalReason) {
    super(reason);
  }
}

async function linkedPerson(sql: Sql, claims: OidcClaims, now: string): Promise<Person | null> {
  const [row] = await sql.query(
    `UPDATE oidc_identities i SET last_used_at = $3::text::timestamptz FROM people p
    WHERE i.issuer = $1::text AND i.subject = $2::text AND p.person_id = i.person_id
    RETURNING ${PERSON_COLUMNS}`,
    [claims.issuer, claims.subject, now],
  );
  return row === undefined ? null : personOfRow(row);
}

/** Links the provider's account to a person: from now on their e-mail address at the provider does not matter. */
async function linkIdentity(
  sql: Sql,
  claims: OidcClaims,
  personId: string,
  now: string,
): Promise<void> {
  await sql.query(
    `INSERT INTO oidc_identities (issuer, subject, person_id, created_at, last_used_at)
    VALUES ($1::text, $2::text, $3::text, $4::text::timestamptz, $4::text::timestamptz)`,
    [claims.issuer, claims.subject, personId, now],
  );
  await sql.query(
    "UPDATE people SET joined_at = coalesce(joined_at, $2::text::timestamptz) WHERE person_id = $1::text",
    [personId, now],
  );
}

/** Whether the person is linked to an account of the provider. */
async function hasOtherIdentity(
  sql: Sql,
  { issuer }: OidcClaims,
  personId: string,
): Promise<boolean> {
  const rows = await sql.query(
    "SELECT 1 FROM oidc_identities WHERE issuer = $1::text AND person_id = $2::text LIMIT 1",
    [issuer, personId],
  );
  return rows.length > 0;
}

function isOfDomain(email: string, domains: readonly string[]): boolean {
  return domains.includes(email.slice(email.lastIndexOf("@") + 1));
}

/** Returns the person of an account's first sign-in: the one with its e-mail address, or a new one. */
async function personOfFirstSignIn(
  sql: Sql,
  { allowedDomains }: OidcSettings,
  claims: OidcClaims,
  makesOwner: boolean,
  nowMs: number,
): Promise<Person> {
  const email = Email.safeParse(claims.email ?? "").data;
  if (email === undefined) throw new SignInRefused("no_email");
  const known = await findPersonByEmail(sql, email);
  const claimed = claimedRole(claims.roles);
  const isAllowed = isOfDomain(email, allowedDomains);
  if (known === null && !makesOwner && !isAllowed && claimed === null) {
    throw new SignInRefused("uninvited");
  }
  // With a role claim or a set-up link, a new person needs no verified address: administrators gave these.
  const needsAddress = known !== null || claimed === null && !makesOwner;
  if (needsAddress && !claims.isEmailVerified) throw new SignInRefused("unverified");
  if (known !== null) {
    // A linked account may have come in by its role claim, without a verified address: this is somebody else.
    if (!makesOwner && await hasOtherIdentity(sql, claims, known.id)) {
      throw new SignInRefused("address_taken");
    }
    return makesOwner ? await changePerson(sql, known.id, { role: "owner" }) : known;
  }
  return await createPerson(sql, {
    email,
    name: PersonName.safeParse(claims.name ?? "").data ?? email,
    role: makesOwner ? "owner" : claimed ?? "viewer",
    projects: "*",
    password: null,
    hasJoined: true,
    nowMs,
  });
}

/** Sets the role that the claim names, at each sign-in; the last owner stays an owner. */
async function withClaimedRole(sql: Sql, person: Person, claims: OidcClaims): Promise<Person> {
  const role = claimedRole(claims.roles);
  if (role === null || role === person.role) return person;
  try {
    return await changePerson(sql, person.id, { role }, claims.issuer);
  } catch (error) {
    if (error instanceof Problem && error.code === "last_owner") return person;
    throw error;
  }
}

/** The link, if any, that led somebody to the provider's sign-in. */
export interface Arrival {
  /** The link's secret. Null: there was none. */
  readonly secret: string | null;
  /** Whether it was a set-up link, which makes an owner. */
  readonly makesOwner: boolean;
  /** The person whom the link invited; null: it was no invitation. */
  readonly invited: Person | null;
  readonly nowMs: number;
}

interface AtProvider {
  readonly person: Person;
  /** Whether it is the account's first sign-in. */
  readonly isNew: boolean;
  /** Whether the role claim has changed the person's role. */
  readonly hasOtherRole: boolean;
}

/**
 * Returns the person of an account at the provider: the one that it is linked to; else the invited one; else the
 * one with its verified e-mail address, unless they are linked to another account; else a new one, if the
 * address's domain, the role claim or the set-up link allows it. Throws SignInRefused.
 */
export async function personAtProvider(
  sql: Sql,
  settings: OidcSettings,
  claims: OidcClaims,
  { secret, makesOwner, invited, nowMs }: Arrival,
): Promise<AtProvider> {
  const now = new Date(nowMs).toISOString();
  const linked = await linkedPerson(sql, claims, now);
  const arrived = linked === null
    ? invited ?? await personOfFirstSignIn(sql, settings, claims, makesOwner, nowMs)
    : makesOwner
    ? await changePerson(sql, linked.id, { role: "owner" })
    : linked;
  if (linked === null) await linkIdentity(sql, claims, arrived.id, now);
  // An invitation of another person is left unused.
  if (secret !== null && (makesOwner || invited?.id === arrived.id)) {
    await useLink(sql, secret, nowMs);
  }
  // Somebody who has now joined needs no invitation, and nobody else may use it.
  if (arrived.joinedAt === null) await expireLinksOf(sql, arrived.id, nowMs);
  const person = await withClaimedRole(sql, arrived, claims);
  return { person, isNew: linked === null, hasOtherRole: person.role !== arrived.role };
}
