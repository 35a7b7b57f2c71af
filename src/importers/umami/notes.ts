import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  { theirs: "`event_id`", ours: "`eventId`" },
  { theirs: "`event_type`, `event_name`", ours: "`name`", how: "type 1 is `page_view`" },
  { theirs: "`created_at`", ours: "`timestamp`", how: "UTC" },
  { theirs: "`session_id`", ours: "`anonymousId`", how: "Umami's visitor of a month" },
  { theirs: "`visit_id`", ours: "`sessionId`", how: "for reference: visits are cut anew" },
  { theirs: "`distinct_id`", ours: "`userId`" },
  { theirs: "`hostname`, `url_path`, `url_query`", ours: "`url`" },
  { theirs: "`referrer_domain`, `_path`, `_query`", ours: "`referrer`" },
  { theirs: "`page_title`", ours: "`title`" },
  { theirs: "`utm_…`, `gclid`, `fbclid`, `msclkid`, …", ours: "the campaign" },
  { theirs: "`event_data`, `tag`", ours: "`properties`" },
  { theirs: "`screen`, `language`", ours: "`context.screen`, `context.locale`" },
  { theirs: "`country`, `region`, `city`", ours: "place", how: "the region stays a code" },
  { theirs: "`browser`, `os`, `device`", ours: "browser, system, device" },
  { theirs: "`session_data`, `revenue`, reports, recordings", ours: null },
  { theirs: "types 3 to 5 (links, pixels, speed)", ours: null },
];
