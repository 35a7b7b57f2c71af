import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { requireLink } from "../people/links.ts";
import { lockWithOwners, ownerExists, requirePerson } from "../people/people.ts";
import type { Arrival } from "./oidc_person.ts";

/** The secret of the link, if any, that led somebody to the provider's sign-in. */
interface CameBy {
  readonly setup?: string | undefined;
  readonly invitation?: string | undefined;
}

/** The set-up link or the invitation is no longer valid. */
export class OidcLinkEnded extends Error {
  override readonly name = "OidcLinkEnded";
}

/**
 * Reads the link that led somebody to the provider's sign-in, and locks it until the transaction ends. Throws
 * OidcLinkEnded.
 */
export async function arrivalOf(
  sql: Sql,
  { setup, invitation }: CameBy,
  nowMs: number,
): Promise<Arrival> {
  const secret = setup ?? invitation;
  if (secret === undefined) return { secret: null, makesOwner: false, invited: null, nowMs };
  const isOwner = setup !== undefined;
  try {
    // One at a time, so that two set-up links used at once make only one owner.
    if (isOwner) await sql.query("LOCK TABLE people IN SHARE ROW EXCLUSIVE MODE");
    const link = { secret, isOwner, nowMs };
    const { kind, personId } = await requireLink(sql, link);
    if (personId !== null) await lockWithOwners(sql, personId);
    await requireLink(sql, { ...link, lock: true });
    if (kind === "reset" || isOwner && await ownerExists(sql)) throw new OidcLinkEnded();
    const invited = personId === null ? null : await requirePerson(sql, personId);
    return { secret, makesOwner: isOwner, invited, nowMs };
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    throw new OidcLinkEnded("The link is no longer valid", { cause });
  }
}
