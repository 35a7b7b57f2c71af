import { Problem } from "../../problem.ts";
import { DOMAINS_PER_EVENT_MAX } from "../client_limits.ts";
import type { ClientBatch, ClientKey } from "../client_event.ts";
import { isMembers, type Members } from "../../json_text.ts";
import { mapEvent, memberOf } from "./map.ts";

/** Before it stands what names a site: a public key, or the host of a project's `siteUrl`. */
const SITE = "site:";

/** The event's domains; default, as in Plausible: the host of its page. */
function domainsOf(body: Members): string[] {
  const named = memberOf(body, "d", "domain");
  if (named !== undefined && typeof named !== "string") {
    throw new Problem("invalid_envelope", "`domain` must be a text.");
  }
  const page = memberOf(body, "u", "url");
  const domains = named ?? (typeof page === "string" ? URL.parse(page)?.hostname : null) ?? "";
  return domains.split(",").map((domain) => domain.trim()).filter((domain) => domain !== "");
}

/** The body of `/api/event`: one event, of one project for each of its domains. */
export function readEvent(value: unknown): ClientBatch {
  if (!isMembers(value)) throw new Problem("invalid_envelope", "Send one object as JSON.");
  const name = memberOf(value, "n", "name");
  const domains = new Set(domainsOf(value));
  if (domains.size > DOMAINS_PER_EVENT_MAX) {
    const most = `Send an event of at most ${DOMAINS_PER_EVENT_MAX} domains.`;
    throw new Problem("invalid_envelope", most);
  }
  const keys = [...domains]
    .map((domain): ClientKey => ({ value: SITE + domain, from: "body" }));
  const items = typeof name === "string" && name !== ""
    ? [mapEvent(value)]
    : [{ refused: "Send the event's name as `n` or `name`." }];
  return { key: keys[0] ?? null, moreKeys: keys.slice(1), sentAt: null, items };
}
