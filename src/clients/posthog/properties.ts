import type { Members } from "../../json_text.ts";

/**
 * Properties beginning with `$` that are kept as they are: what they tell stands nowhere else. All
 * others are of PostHog's own making and are dropped (`docs/clients.md` lists both): they say again
 * what the address, the user agent and the columns of the event say, or speak of PostHog's own
 * features.
 */
const KEPT: ReadonlySet<string> = new Set([
  // Traits, and groups.
  "$set",
  "$set_once",
  "$unset",
  "$groups",
  "$group_type",
  "$group_key",
  "$group_set",
  // What was shown to whom.
  "$feature_flag",
  "$feature_flag_response",
  "$survey_id",
  "$survey_name",
  "$survey_response",
  // What was clicked.
  "$event_type",
  "$el_text",
  "$external_click_target_url",
  // How long something took, and how far a page was read.
  "$duration",
  "$prev_pageview_duration",
  "$prev_pageview_pathname",
  "$prev_pageview_max_scroll_percentage",
  "$web_vitals_LCP_value",
  "$web_vitals_CLS_value",
  "$web_vitals_FCP_value",
  "$web_vitals_INP_value",
  // What went wrong.
  "$exception_types",
  "$exception_values",
  "$exception_level",
  "$exception_type",
  "$exception_message",
  // Of apps, which have no address.
  "$app_name",
  "$app_version",
  "$app_build",
]);
/** Values that tests and surveys gave: their names go on behind these. */
const KEPT_PREFIXES = ["$feature/", "$survey_response_"] as const;

/**
 * Parameters of campaigns. Of a visitor who came by any of them, posthog-js adds all to every event, null where the
 * address had none.
 */
const OF_CAMPAIGNS: ReadonlySet<string> = new Set([
  ...["utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "gclid", "gclsrc"],
  ...["gad_source", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "twclid", "ttclid"],
  ...["li_fat_id", "mc_cid", "igshid", "rdt_cid", "epik", "qclid", "sccid", "irclid", "_kx"],
  ...["bfcid", "oppref"],
]);

/** Where the client puts the project's key, beside what the page says. */
const KEY_NAMES: ReadonlySet<string> = new Set(["token", "api_key"]);

function isKept(name: string, value: unknown, key: string | null): boolean {
  if (name === "distinct_id" || KEY_NAMES.has(name) && value === key) return false;
  if (!name.startsWith("$")) return value !== null || !OF_CAMPAIGNS.has(name);
  return KEPT.has(name) || KEPT_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * What is kept of an event's properties.
 * @param moved what became members of the event
 * @param key the project's, which is no property
 */
export function keptProperties(
  properties: Members,
  { moved, key }: { readonly moved: readonly string[]; readonly key: string | null },
): Members {
  const kept: Members = Object.create(null);
  for (const [name, value] of Object.entries(properties)) {
    if (isKept(name, value, key) && !moved.includes(name)) kept[name] = value;
  }
  return kept;
}
