import { z } from "zod";
import type { Sealer } from "../auth/sealed_value.ts";
import { UNSUBSCRIBE_TTL_S } from "./notification_limits.ts";

/** The person whose messages a link ends, and the digest or alert. */
export const Unsubscription = z.object({
  /** The project's public id, which it keeps when it is moved or restored. */
  project: z.string(),
  source: z.enum(["digest", "alert"]),
  slug: z.string(),
  email: z.string(),
});
export type Unsubscription = z.output<typeof Unsubscription>;

const PURPOSE = "unsubscribe";

/** Returns a signed link that ends one person's messages of one digest or alert. */
export async function unsubscribeUrl(
  sealer: Sealer,
  address: string,
  of: Unsubscription,
): Promise<string> {
  const token = await sealer.seal(PURPOSE, { ...of }, UNSUBSCRIBE_TTL_S);
  return `${address}/v1/unsubscribe?token=${token}`;
}

/** Reads a link's token; null: it is not genuine, or has expired. */
export async function openUnsubscription(
  sealer: Sealer,
  token: string,
): Promise<Unsubscription | null> {
  return await sealer.open(PURPOSE, token, Unsubscription);
}
