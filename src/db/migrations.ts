import events from "../../migrations/0001_events.sql" with { type: "text" };
import sessions from "../../migrations/0002_sessions.sql" with { type: "text" };
import savedReports from "../../migrations/0003_saved_reports.sql" with { type: "text" };
import captures from "../../migrations/0004_captures.sql" with { type: "text" };
import histories from "../../migrations/0005_histories.sql" with { type: "text" };
import historyProperties from "../../migrations/0006_history_properties.sql" with { type: "text" };
import historyTitles from "../../migrations/0007_history_titles.sql" with { type: "text" };
import access from "../../migrations/0008_access.sql" with { type: "text" };
import captureTries from "../../migrations/0009_capture_tries.sql" with { type: "text" };
import technicalNames from "../../migrations/0010_technical_names.sql" with { type: "text" };
import foldProgress from "../../migrations/0011_fold_progress.sql" with { type: "text" };
import oneStore from "../../migrations/0012_one_store.sql" with { type: "text" };
import people from "../../migrations/0013_people.sql" with { type: "text" };
import tokensAudit from "../../migrations/0014_tokens_audit.sql" with { type: "text" };
import shares from "../../migrations/0015_shares.sql" with { type: "text" };
import usedChallenges from "../../migrations/0016_used_challenges.sql" with { type: "text" };
import importedHistory from "../../migrations/0017_imported_history.sql" with { type: "text" };
import archive from "../../migrations/0018_archive.sql" with { type: "text" };
import passiveEvents from "../../migrations/0021_passive_events.sql" with { type: "text" };
import savedSegments from "../../migrations/0022_saved_segments.sql" with { type: "text" };
import notes from "../../migrations/0023_notes.sql" with { type: "text" };
import told from "../../migrations/0024_told.sql" with { type: "text" };
import sessionless from "../../migrations/0025_sessionless.sql" with { type: "text" };
import toldToNobody from "../../migrations/0027_told_to_nobody.sql" with { type: "text" };
import journalByTime from "../../migrations/0028_journal_by_time.sql" with { type: "text" };
import slotKeys from "../../migrations/0029_slot_keys.sql" with { type: "text" };
import wordsLeft from "../../migrations/0030_words_left.sql" with { type: "text" };
import siteHosts from "../../migrations/0031_site_hosts.sql" with { type: "text" };
import removedNumbers from "../../migrations/0032_removed_numbers.sql" with { type: "text" };
import journalBySpan from "../../migrations/0033_journal_by_span.sql" with { type: "text" };
import type { Migration } from "./migrate.ts";

/** The schema's history, embedded in the program. Append only: a released text never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_events", sql: events },
  { version: 2, name: "0002_sessions", sql: sessions },
  { version: 3, name: "0003_saved_reports", sql: savedReports },
  { version: 4, name: "0004_captures", sql: captures },
  { version: 5, name: "0005_histories", sql: histories },
  { version: 6, name: "0006_history_properties", sql: historyProperties },
  { version: 7, name: "0007_history_titles", sql: historyTitles },
  { version: 8, name: "0008_access", sql: access },
  { version: 9, name: "0009_capture_tries", sql: captureTries },
  { version: 10, name: "0010_technical_names", sql: technicalNames },
  { version: 11, name: "0011_fold_progress", sql: foldProgress },
  { version: 12, name: "0012_one_store", sql: oneStore },
  { version: 13, name: "0013_people", sql: people },
  { version: 14, name: "0014_tokens_audit", sql: tokensAudit },
  { version: 15, name: "0015_shares", sql: shares },
  { version: 16, name: "0016_used_challenges", sql: usedChallenges },
  { version: 17, name: "0017_imported_history", sql: importedHistory },
  { version: 18, name: "0018_archive", sql: archive },
  { version: 21, name: "0021_passive_events", sql: passiveEvents },
  { version: 22, name: "0022_saved_segments", sql: savedSegments },
  { version: 23, name: "0023_notes", sql: notes },
  { version: 24, name: "0024_told", sql: told },
  { version: 25, name: "0025_sessionless", sql: sessionless },
  { version: 27, name: "0027_told_to_nobody", sql: toldToNobody },
  { version: 28, name: "0028_journal_by_time", sql: journalByTime },
  { version: 29, name: "0029_slot_keys", sql: slotKeys },
  { version: 30, name: "0030_words_left", sql: wordsLeft },
  { version: 31, name: "0031_site_hosts", sql: siteHosts },
  { version: 32, name: "0032_removed_numbers", sql: removedNumbers },
  { version: 33, name: "0033_journal_by_span", sql: journalBySpan },
];
