import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  {
    theirs: "(none)",
    ours: "`eventId`",
    how: "hashed of stream, person, `event_timestamp`, `event_name`, the batch's numbers and the " +
      "parameters, so that a day's first and final tables give the same",
  },
  {
    theirs: "`event_name`",
    ours: "`name`",
    how:
      "`screen_view` → `page_view`, `click` → `outbound_click`; `session_start`, `first_visit`, " +
      "`user_engagement`, `scroll` get a leading `$`",
  },
  { theirs: "`event_timestamp`", ours: "`timestamp`", how: "to the millisecond" },
  {
    theirs: "`user_id`, `user_pseudo_id`",
    ours: "`userId`, `anonymousId`",
    how: "with neither, an event is of no visit",
  },
  { theirs: "`ga_session_id`", ours: "`sessionId`", how: "for reference: visits are cut anew" },
  { theirs: "`page_location`, `page_referrer`, `page_title`", ours: "`url`, `referrer`, `title`" },
  {
    theirs: "`collected_traffic_source`",
    ours: "the campaign",
    how:
      "the address's where it is not told; `(direct)`, `(none)`, `(organic)` and the like are none",
  },
  { theirs: "other `event_params`, `ecommerce`, `items`", ours: "`properties`" },
  { theirs: "`geo`", ours: "place" },
  { theirs: "`device`", ours: "browser, system, device; `context.locale`" },
  {
    theirs: "`traffic_source`, `session_traffic_source_last_click`",
    ours: null,
    how: "sources of visits are worked out of addresses and referrers",
  },
  { theirs: "`user_properties`, `user_ltv`, `privacy_info`", ours: null },
];
