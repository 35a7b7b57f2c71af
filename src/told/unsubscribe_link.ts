import { z } from "zod";
import type { Sealer } from "../auth/sealed_value.ts";
import { UNSUBSCRIBE_TTL_S } from "./told_limits.ts";

/** Whose messages of what a link ends. */
export const Unsubscription = z.object({
  /** Its public id, which it keeps where it is moved or restored. */
  project: z.string(),
  source: z.enum(["digest", "alert"]),
  slug: z.string(),
  email: z.string(),
});
export type Unsubscription = z.output<typeof Unsubscription>;

const PURPOSE = "unsubscribe";

/** The signed link that ends one person's messages of one digest or alert. */
export async function unsubscribeUrl(
  sealer: Sealer,
  address: string,
  of: Unsubscription,
): Promise<string> {
  const token = await sealer.seal(PURPOSE, { ...of }, UNSUBSCRIBE_TTL_S);
  return `${address}/v1/unsubscribe?token=${token}`;
}

/** What a link's token is for; null: it was never given out, or its time is over. */
export async function openUnsubscription(
  sealer: Sealer,
  token: string,
): Promise<Unsubscription | null> {
  return await sealer.open(PURPOSE, token, Unsubscription);
}
