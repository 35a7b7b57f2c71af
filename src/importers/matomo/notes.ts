import type { MappingNote } from "../source.ts";

export const NOTES: readonly MappingNote[] = [
  { theirs: "`idSite` with `pageId`, goal or order", ours: "`eventId`", how: "hashed" },
  {
    theirs: "`actionDetails[].type`",
    ours: "`name`",
    how: "`action` → `page_view`, `event` → its `eventAction`, `search` → `site_search`, " +
      "`ecommerceOrder` → `purchase`; `download`, `outlink` and `goal` keep theirs",
  },
  {
    theirs: "`timestamp`",
    ours: "`timestamp`",
    how:
      "to the second; from the site's time zone to UTC, by the visit's `firstActionTimestamp`, " +
      "and by its `lastActionTimestamp` where clocks changed amid it",
  },
  { theirs: "`visitorId`, `userId`", ours: "`anonymousId`, `userId`" },
  { theirs: "`idVisit`", ours: "`sessionId`", how: "for reference: visits are cut anew" },
  {
    theirs: "`url`, `pageTitle`",
    ours: "`url`, `title`",
    how: "of downloads and outlinks: `properties.target`",
  },
  { theirs: "`referrerUrl`", ours: "`referrer`", how: "of the visit's first event" },
  {
    theirs: "`referrerName`, `referrerKeyword`, `campaign…`",
    ours: "the campaign",
    how: "of the visit's first event; without a source, the name is the source",
  },
  {
    theirs: "`eventCategory`, `eventName`, `eventValue`",
    ours: "`properties.category`, `.label`, `.value`",
  },
  { theirs: "goals, orders, searches, `dimension…`", ours: "`properties`" },
  { theirs: "`countryCode`, `region`, `city`", ours: "place" },
  { theirs: "`browserName`, `operatingSystemName`, `deviceType`", ours: "browser, system, device" },
  { theirs: "`resolution`, `languageCode`", ours: "`context.screen`, `context.locale`" },
  { theirs: "`visitIp`, content, abandoned carts, plugins, time spent", ours: null },
];
