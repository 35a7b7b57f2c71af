import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  { theirs: "`uuid`", ours: "`eventId`" },
  {
    theirs: "`event`",
    ours: "`name`",
    how: "`$pageview`, `$screen` → `page_view`; `$identify`, `$set` → `$identify`; " +
      "`$create_alias`, `$merge_dangerously` → `$alias`; `$groupidentify` → `$group`; others keep theirs",
  },
  { theirs: "`timestamp`", ours: "`timestamp`" },
  {
    theirs: "`distinct_id`, `$device_id`, `$is_identified`",
    ours: "`userId`, `anonymousId`",
    how: "as their clients' events are understood",
  },
  {
    theirs: "`$session_id`",
    ours: "`sessionId`",
    how:
      "for reference: visits are cut anew; with `$is_server` and without it, an event is of no visit",
  },
  { theirs: "`$current_url`, `$pathname`", ours: "`url`, `path`" },
  { theirs: "`$referrer`", ours: "`referrer`", how: "`$direct` is none" },
  { theirs: "`title`, `$screen_name`", ours: "`title`" },
  { theirs: "properties without `$`", ours: "`properties`" },
  {
    theirs: "`$set`, `$set_once`, `$group_set`",
    ours: "`properties`",
    how: "of `$identify` and `$group`",
  },
  {
    theirs: "`$viewport_…`, `$screen_…`, `$browser_language`, `$timezone`",
    ours: "`context`",
  },
  { theirs: "`$geoip_country_code`, `…_subdivision_1_name`, `…_city_name`", ours: "place" },
  { theirs: "`$browser`, `$os`, `$device_type`", ours: "browser, system, device" },
  {
    theirs: "other properties with `$`, `person_properties`, `elements_chain`, `$ip`",
    ours: null,
  },
];
