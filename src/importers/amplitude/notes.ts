import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  { theirs: "`uuid`, else `$insert_id`", ours: "`eventId`" },
  {
    theirs: "`event_type`",
    ours: "`name`",
    how: "`[Amplitude] Page Viewed` → `page_view`; `session_start`, `session_end` and what else " +
      "Amplitude records by itself get a leading `$` (forms and downloads do not)",
  },
  { theirs: "`event_time`", ours: "`timestamp`", how: "UTC" },
  { theirs: "`user_id`, `device_id`", ours: "`userId`, `anonymousId`" },
  { theirs: "`session_id`", ours: "`sessionId`", how: "for reference: visits are cut anew" },
  {
    theirs: "`[Amplitude] Page Location`, `… Path`, `… Title`, `referrer`",
    ours: "`url`, `path`, `title`, `referrer`",
  },
  { theirs: "other `event_properties`", ours: "`properties`" },
  { theirs: "`user_properties`", ours: "`properties`", how: "of `$identify` and `$group` alone" },
  { theirs: "`country`, `region`, `city`", ours: "place" },
  {
    theirs: "`os_name`, `device_family`, `device_type`",
    ours: "browser, system, device",
    how: "on the web `os_name` is the browser",
  },
  { theirs: "`ip_address`, `groups`, `amplitude_id`, `data`, versions of apps", ours: null },
];
