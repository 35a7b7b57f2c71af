import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  {
    theirs: "(none)",
    ours: "`eventId`",
    how:
      "hashed of path, session, time, referrer, screen, place and bot, and its number among equal " +
      "ones of the file",
  },
  {
    theirs: "`Path`, `Event`",
    ours: "`url`, `name`",
    how: "an event's path is its name; paths have no host",
  },
  { theirs: "`Title`", ours: "`title`" },
  { theirs: "`Date`", ours: "`timestamp`", how: "to the second" },
  {
    theirs: "`Session`",
    ours: "`anonymousId`, `sessionId`",
    how: "GoatCounter's visitor of some hours; without one (`0-0`), an event is of no visit",
  },
  {
    theirs: "`Referrer`, `Referrer scheme`",
    ours: "`referrer`",
    how: "`c` → the campaign's source; `g` → the site's address, or `properties.referrerName`",
  },
  { theirs: "`Location`", ours: "place", how: "country and code of the region" },
  {
    theirs: "`Browser`, `System`, `Screen size`",
    ours: "browser, system, device; `context.screen`",
    how: "without versions; the device by system and screen",
  },
  { theirs: "`Bot`", ours: "bot" },
  { theirs: "`FirstVisit`, `UserAgent`, languages, the JSON export's sums", ours: null },
];
