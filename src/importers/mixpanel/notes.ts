import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  {
    theirs: "`$insert_id`",
    ours: "`eventId`",
    how: "hashed with `event`, `time` and `$distinct_id_before_identity`, else `distinct_id`, as " +
      "Mixpanel itself de-duplicates",
  },
  { theirs: "`event`", ours: "`name`", how: "`$mp_web_page_view` → `page_view`" },
  {
    theirs: "`time`",
    ours: "`timestamp`",
    how: "seconds in UTC; of a project that exports times in its own zone, say `--time-zone`",
  },
  {
    theirs: "`$user_id`, `distinct_id`, `$device_id`",
    ours: "`userId`, `anonymousId`",
    how: "a `distinct_id` that is the device's names nobody",
  },
  {
    theirs: "`$current_url`, `$referrer`, `current_page_title`",
    ours: "`url`, `referrer`, `title`",
  },
  { theirs: "properties without `$` or `mp_`", ours: "`properties`" },
  { theirs: "`$screen_width`, `$screen_height`", ours: "`context.screen`" },
  { theirs: "`mp_country_code`, `$region`, `$city`", ours: "place" },
  {
    theirs: "`$browser`, `$os`, `$device`",
    ours: "browser, system, device",
    how: "the device of a browser by its system",
  },
  { theirs: "profiles, other properties with `$` or `mp_`", ours: null },
];
