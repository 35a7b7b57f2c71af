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

/** Providers whose roles serve several programs may call ours so. */
const PREFIX = "footfall-";

/** The highest of our roles that the claim names. Null: it names none. */
export function claimedRole(roles: readonly string[] | null): Role | null {
  const named = new Set(roles?.map((role) => role.toLowerCase().replace(PREFIX, "")));
  return ROLES.find((role) => named.has(role)) ?? null;
}

/** Why the provider's word opens nothing here; the dashboard has a sentence for each. */
export type RefusalReason = "no_email" | "unverified" | "uninvited" | "address_taken";

/** The provider says who it is, and that is nobody who may come in. */
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

/** Who they are from now on, whatever becomes of their address at the provider. */
async function link(sql: Sql, claims: OidcClaims, personId: string, now: string): Promise<void> {
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

/** Whether somebody signs in as that person by another account of the provider. */
async function isTaken(sql: Sql, { issuer }: OidcClaims, personId: string): Promise<boolean> {
  const rows = await sql.query(
    "SELECT 1 FROM oidc_identities WHERE issuer = $1::text AND person_id = $2::text LIMIT 1",
    [issuer, personId],
  );
  return rows.length > 0;
}

function isOfDomain(email: string, domains: readonly string[]): boolean {
  return domains.includes(email.slice(email.lastIndexOf("@") + 1));
}

/** Whoever signs in for the first time: somebody who has that address here, or a new person. */
async function arrivedPerson(
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
  // The role claim and the set-up link stand for themselves: administrators gave them.
  const needsAddress = known !== null || claimed === null && !makesOwner;
  if (needsAddress && !claims.isEmailVerified) throw new SignInRefused("unverified");
  if (known !== null) {
    // By a role claim people come in whose address nobody verified: who proves it later is somebody else.
    if (!makesOwner && await isTaken(sql, claims, known.id)) {
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

/** The role that the claim names holds from each sign-in on; the last owner stays one. */
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

/** By which of our own links somebody came to the provider, if by one. */
export interface Arrival {
  /** The link's. Null: they came by none. */
  readonly secret: string | null;
  /** The set-up link was followed: whoever comes is the owner. */
  readonly makesOwner: boolean;
  /** An invitation was followed: whoever comes is its person, unless they are somebody else here already. */
  readonly invited: Person | null;
  readonly nowMs: number;
}

/** Who came from the provider. */
export interface AtProvider {
  readonly person: Person;
  readonly isNew: boolean;
  readonly hasOtherRole: boolean;
}

/**
 * Who signed in at the provider: whoever signed in as that before; else whom the invitation is for;
 * else whoever has the verified e-mail address, unless they sign in by another account of the provider;
 * else a new person, where the address's domain or the role claim allows it.
 * @returns the person, whether they came by the provider for the first time, and whether its role
 * claim has just changed what they may do
 * Throws SignInRefused.
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
    ? invited ?? await arrivedPerson(sql, settings, claims, makesOwner, nowMs)
    : makesOwner
    ? await changePerson(sql, linked.id, { role: "owner" })
    : linked;
  if (linked === null) await link(sql, claims, arrived.id, now);
  // An invitation of somebody else stays theirs.
  if (secret !== null && (makesOwner || invited?.id === arrived.id)) {
    await useLink(sql, secret, nowMs);
  }
  // Who has joined needs no invitation, and nobody else may use theirs.
  if (arrived.joinedAt === null) await expireLinksOf(sql, arrived.id, nowMs);
  const person = await withClaimedRole(sql, arrived, claims);
  return { person, isNew: linked === null, hasOtherRole: person.role !== arrived.role };
}
