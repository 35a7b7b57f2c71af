import { z } from "zod";
import { isRefused, UNIQUE_VIOLATION } from "../../db/refusal.ts";
import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { TOKEN_PROJECTS_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { nameText, PlainText } from "../../text_schemas.ts";
import { isSameProvider } from "../oidc/oidc_issuer.ts";
import { ProjectId } from "../projects.ts";
import { randomText } from "../random_text.ts";
import { type Role, ROLES } from "../roles.ts";
import { EMAIL_LENGTH_MAX, PEOPLE_MAX } from "./people_limits.ts";

/** Somebody who may sign in. Times are ISO 8601 in UTC. */
export interface Person {
  /** `per_…` */
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Public ids, or every present and future project. */
  readonly projects: readonly string[] | "*";
  /** Goes up with each change of role or projects. */
  readonly rights: number;
  readonly createdAt: string;
  /** Since when they can sign in by themselves; null: invited only. */
  readonly joinedAt: string | null;
  readonly lastSeenAt: string | null;
}

/** An e-mail address in its stored form. */
export const Email = PlainText.trim().toLowerCase().normalize("NFC")
  .regex(/^[^\s@]+@[^\s@]+$/, "Give an e-mail address such as ada@example.com.")
  .max(EMAIL_LENGTH_MAX, `Use at most ${EMAIL_LENGTH_MAX} characters.`)
  .meta({ description: "Their e-mail address.", example: "ada@example.com" });
export const PersonName = nameText("Give a name.")
  .meta({ description: "What people call them.", example: "Ada Lovelace" });
export const RoleName = z.enum(ROLES, `Use one of ${ROLES.join(", ")}.`).meta({
  description: "owner: people and everything; admin: a project's settings, keys and erasure too; " +
    "editor: saves what is asked; viewer: reads.",
});
export const PersonProjects = z.array(
  z.union([z.literal("*"), ProjectId], 'Use project ids, or "*" for all.'),
).min(1, 'Name at least one project, or "*".')
  .max(TOKEN_PROJECTS_MAX, `Name at most ${TOKEN_PROJECTS_MAX} projects, or "*".`)
  .meta({ description: 'Public ids, or ["*"] for every project.', example: ["prj_default"] });

/** A person as replies show them. */
export const PersonShown = z.object({
  id: z.string().meta({ example: "per_0aB1cD2eF3gH4iJ5" }),
  email: Email,
  name: PersonName,
  role: RoleName,
  projects: PersonProjects,
  createdAt: z.iso.datetime(),
  joinedAt: z.iso.datetime().nullable()
    .meta({ description: "Since when they can sign in; null: invited, and not here yet." }),
  lastSeenAt: z.iso.datetime().nullable(),
}).meta({ id: "Person" });

/** Returns a person as replies show them. */
export function personReply(person: Person): z.input<typeof PersonShown> {
  const { rights: _, projects, ...shown } = person;
  return { ...shown, projects: projects === "*" ? ["*"] : [...projects] };
}

interface PersonRow extends Record<string, unknown> {
  person_id: string;
  email: string;
  name: string;
  role: Role;
  projects: string[];
  rights: number;
  created_at: Date;
  joined_at: Date | null;
  last_seen_at: Date | null;
}

/** The columns that `personOfRow` needs; `p` is the table `people`. */
export const PERSON_COLUMNS = "p.person_id, p.email, p.name, p.role, p.projects, p.rights, " +
  "p.created_at, p.joined_at, p.last_seen_at";

export function personOfRow(row: Record<string, unknown>): Person {
  const { projects, joined_at, last_seen_at, ...found } = row as PersonRow;
  return {
    id: found.person_id,
    email: found.email,
    name: found.name,
    role: found.role,
    projects: projects.includes("*") ? "*" : projects,
    rights: found.rights,
    createdAt: found.created_at.toISOString(),
    joinedAt: joined_at?.toISOString() ?? null,
    lastSeenAt: last_seen_at?.toISOString() ?? null,
  };
}

const PERSON_ID = /^per_[A-Za-z0-9]{1,60}$/;

/** All people, oldest first. */
export async function listPeople(sql: Sql): Promise<Person[]> {
  const rows = await sql.query(
    `SELECT ${PERSON_COLUMNS} FROM people p ORDER BY p.created_at, p.person_id`,
  );
  return rows.map(personOfRow);
}

/** Throws `not_found`. */
export async function requirePerson(sql: Sql, id: string): Promise<Person> {
  const rows = PERSON_ID.test(id)
    ? await sql.query(`SELECT ${PERSON_COLUMNS} FROM people p WHERE p.person_id = $1::text`, [id])
    : [];
  const [row] = rows;
  if (row === undefined) throw noSuchPerson();
  return personOfRow(row);
}

function noSuchPerson(): Problem {
  return new Problem("not_found", "There is no person with this id.");
}

/** `email` as `Email` normalizes it. Null: nobody has it. */
export async function findPersonByEmail(sql: Sql, email: string): Promise<Person | null> {
  const [row] = await sql.query(
    `SELECT ${PERSON_COLUMNS} FROM people p WHERE p.email = $1::text`,
    [email],
  );
  return row === undefined ? null : personOfRow(row);
}

/** Whether an owner has joined: until then, each start prints a set-up link. */
export async function ownerExists(sql: Sql): Promise<boolean> {
  const rows = await sql.query(
    "SELECT FROM people WHERE role = 'owner' AND joined_at IS NOT NULL LIMIT 1",
  );
  return rows.length > 0;
}

interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly projects: readonly string[] | "*";
  /** As `hashPassword` returns it; null: they sign in by other means, or use an invitation first. */
  readonly password: string | null;
  /** Whether they can sign in from now on. */
  readonly hasJoined: boolean;
  readonly nowMs: number;
}

/** Throws `conflict` if somebody has the e-mail address, or there are too many people. */
export async function createPerson(sql: Sql, wanted: NewPerson): Promise<Person> {
  const { email, name, role, projects, password, hasJoined, nowMs } = wanted;
  const now = new Date(nowMs).toISOString();
  try {
    const [row] = await sql.query(
      `INSERT INTO people AS p
        (person_id, email, name, role, projects, password, created_at, joined_at)
      SELECT $1::text, $2::text, $3::text, $4::text, $5::text::text[], $6::text,
        $7::text::timestamptz, $8::text::timestamptz
      WHERE (SELECT count(*) FROM people) < $9::int
      RETURNING ${PERSON_COLUMNS}`,
      [
        `per_${randomText(16)}`,
        email,
        name,
        role,
        projectsLiteral(role, projects),
        password,
        now,
        hasJoined ? now : null,
        PEOPLE_MAX,
      ],
    );
    if (row === undefined) {
      throw new Problem("conflict", `There are ${PEOPLE_MAX} people. Remove some first.`);
    }
    return personOfRow(row);
  } catch (error) {
    if (!isRefused(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem("conflict", "Somebody has this e-mail address already.", { cause: error });
  }
}

/** An owner always has every project. */
function projectsLiteral(role: Role, projects: readonly string[] | "*"): string {
  return arrayLiteral(role === "owner" || projects === "*" ? ["*"] : [...new Set(projects)].sort());
}

interface PersonPatch {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly projects?: readonly string[] | "*" | undefined;
}

/**
 * Changes what the patch names, in the caller's transaction. A change of role or projects ends earlier tokens.
 * `issuer`: as in `ownersIn`; needed only if the patch has a role. Throws `not_found`, `last_owner`.
 */
export async function changePerson(
  sql: Sql,
  id: string,
  patch: PersonPatch,
  issuer: string | null = null,
): Promise<Person> {
  await lockWithOwners(sql, id);
  const person = await requirePerson(sql, id);
  const role = patch.role ?? person.role;
  if (role !== "owner") await assertNotLast(sql, issuer, person);
  const projects = projectsLiteral(role, patch.projects ?? person.projects);
  const [row] = await sql.query(
    `UPDATE people p SET name = $2::text, role = $3::text, projects = $4::text::text[],
      rights = p.rights +
        CASE WHEN (p.role, p.projects) = ($3::text, $4::text::text[]) THEN 0 ELSE 1 END
    WHERE p.person_id = $1::text RETURNING ${PERSON_COLUMNS}`,
    [id, patch.name ?? person.name, role, projects],
  );
  if (row === undefined) throw noSuchPerson();
  return personOfRow(row);
}

/**
 * Removes a person with their sessions, links and passkeys, in the caller's transaction. `issuer`: as in
 * `ownersIn`. Throws `not_found`, `last_owner`.
 */
export async function removePerson(sql: Sql, id: string, issuer: string | null): Promise<Person> {
  await lockWithOwners(sql, id);
  const person = await requirePerson(sql, id);
  await assertNotLast(sql, issuer, person);
  await sql.query("DELETE FROM people WHERE person_id = $1::text", [id]);
  return person;
}

/**
 * Locks a person and all owners until the transaction ends, so that their roles, projects and ways to sign in do
 * not change. Every change of a person, and every making or use of their links, takes this lock before anything
 * else, so that no two can deadlock. Read after it, not before.
 */
export async function lockWithOwners(sql: Sql, personId: string): Promise<void> {
  await sql.query(
    `SELECT FROM people WHERE role = 'owner' OR person_id = $1::text
    ORDER BY person_id FOR UPDATE`,
    [PERSON_ID.test(personId) ? personId : null],
  );
}

/**
 * Returns the ids of the owners who can sign in: with a password, a passkey, or the identity provider `issuer`
 * (null: none is configured).
 */
async function ownersIn(sql: Sql, issuer: string | null): Promise<string[]> {
  const rows = await sql.query<{ person_id: string; has_own: boolean; issuers: string[] }>(
    `SELECT p.person_id,
      p.password IS NOT NULL
        OR EXISTS (SELECT FROM passkeys k WHERE k.person_id = p.person_id) AS has_own,
      ARRAY(SELECT i.issuer FROM oidc_identities i WHERE i.person_id = p.person_id) AS issuers
    FROM people p WHERE p.role = 'owner' AND p.joined_at IS NOT NULL`,
  );
  const isOfIssuer = (each: string) => issuer !== null && isSameProvider(each, issuer);
  return rows
    .filter((row) => row.has_own || row.issuers.some(isOfIssuer))
    .map((row) => row.person_id);
}

/** Throws `last_owner` if this person is an owner who has joined, and no other owner can sign in. */
async function assertNotLast(
  sql: Sql,
  issuer: string | null,
  { id, role, joinedAt }: Person,
): Promise<void> {
  if (role !== "owner" || joinedAt === null) return;
  if ((await ownersIn(sql, issuer)).every((other) => other === id)) throw lastOwner();
}

function lastOwner(): Problem {
  return new Problem(
    "last_owner",
    "No other owner can sign in. Make somebody else an owner first.",
  );
}

/** Throws `last_owner` if no owner can sign in any more. `issuer`: as in `ownersIn`. */
export async function assertOwnerSignsIn(sql: Sql, issuer: string | null): Promise<void> {
  if ((await ownersIn(sql, issuer)).length === 0) throw lastOwner();
}

/** Reads the hash of a person's password, and locks the person; null: they have none, or do not exist. */
export async function passwordOf(sql: Sql, personId: string): Promise<string | null> {
  const [row] = await sql.query<{ password: string | null }>(
    "SELECT password FROM people WHERE person_id = $1::text FOR UPDATE",
    [personId],
  );
  return row?.password ?? null;
}

/** Stores a person's password hash; whoever has a password has joined. */
export async function setPassword(
  sql: Sql,
  { personId, password, nowMs }: {
    readonly personId: string;
    readonly password: string;
    readonly nowMs: number;
  },
): Promise<void> {
  await sql.query(
    `UPDATE people SET password = $2::text,
      joined_at = COALESCE(joined_at, $3::text::timestamptz)
    WHERE person_id = $1::text`,
    [personId, password, new Date(nowMs).toISOString()],
  );
}
