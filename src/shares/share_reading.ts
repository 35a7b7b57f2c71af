import {
  type ApiExchange,
  insufficientScope,
  requirePrincipal,
  unauthorized,
} from "../auth/access.ts";
import { givenText } from "../query/parameters.ts";
import type { LiveShares } from "./live_shares.ts";
import { SHARE_READS } from "./share_views.ts";
import type { Share } from "./shares.ts";

/**
 * Returns the share of a read's token; null: it is not a share's token. Throws `invalid_token` if the share has
 * ended, `expired_token` if its password has changed, `insufficient_scope` if it does not show what is asked,
 * `DatabaseUnavailable`.
 * @param path the route's
 */
export async function shareOfRead(
  shares: Pick<LiveShares, "find">,
  { who, url }: Pick<ApiExchange, "who" | "url">,
  path: string,
): Promise<Share | null> {
  const claim = requirePrincipal(who).share;
  if (claim === undefined) return null;
  const share = await shares.find(claim.id);
  if (share === null) {
    throw unauthorized("invalid_token", "This shared dashboard has been revoked or has expired.");
  }
  if (share.epoch !== claim.epoch) {
    throw unauthorized("expired_token", "The password has changed. Open the link again.");
  }
  const isShown = SHARE_READS[path]?.some((view) => share.views.includes(view)) ?? false;
  const asksGoal = path !== "/v1/goals" && givenText(url.searchParams, "goal") !== null;
  if (!isShown || asksGoal && !share.views.includes("goals")) {
    throw insufficientScope("This shared dashboard does not show that.");
  }
  return share;
}
