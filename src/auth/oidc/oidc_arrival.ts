import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { requireLink } from "../people/links.ts";
import { lockWithOwners, ownerExists, requirePerson } from "../people/people.ts";
import type { Arrival } from "./oidc_person.ts";

/** The secrets of our own links by which somebody came to the provider. */
export interface CameBy {
  readonly setup?: string | undefined;
  readonly invitation?: string | undefined;
}

/** The set-up link or the invitation holds no more. */
export class OidcLinkOver extends Error {
  override readonly name = "OidcLinkOver";
}

/**
 * By which of our links somebody came to the provider; it is kept from others until the transaction
 * ends. Throws OidcLinkOver where it holds no more.
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
    // One at a time: of two set-up links that are used at once, one makes the owner.
    if (isOwner) await sql.query("LOCK TABLE people IN SHARE ROW EXCLUSIVE MODE");
    const link = { secret, isOwner, nowMs };
    const { kind, personId } = await requireLink(sql, link);
    if (personId !== null) await lockWithOwners(sql, personId);
    await requireLink(sql, { ...link, lock: true });
    if (kind === "reset" || isOwner && await ownerExists(sql)) throw new OidcLinkOver();
    const invited = personId === null ? null : await requirePerson(sql, personId);
    return { secret, makesOwner: isOwner, invited, nowMs };
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    throw new OidcLinkOver("The link holds no more", { cause });
  }
}
