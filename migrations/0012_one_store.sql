-- One store: events are written once, as columns of whole segments. Ingestion writes ids and a block;
-- the projection makes segments, sessions, actors and rollups of it.

-- Every event that was ever stored: no id is taken twice.
CREATE TABLE event_ids (
  project_id int NOT NULL,
  event_id uuid NOT NULL,
  PRIMARY KEY (project_id, event_id)
);

-- What ingestion writes: a row a flush and project, until the projection has taken it, and 48 hours on.
CREATE TABLE journal (
  project_id int NOT NULL,
  journal_id bigint GENERATED ALWAYS AS IDENTITY,
  -- The transaction that stored the row, so that a tail knows what it has shown: an update moves xmin.
  stored_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Events that were new: those of the block less `known_ids`.
  event_count int NOT NULL,
  -- Within which its events happened, in epoch milliseconds: no block is read in vain.
  from_ms bigint NOT NULL,
  to_ms bigint NOT NULL,
  -- See src/store/journal_block.ts.
  block bytea NOT NULL,
  -- Events of the block that had been stored before, and count for nothing here.
  known_ids uuid[],
  -- When the last of its events was projected. It is deleted 48 hours later.
  projected_at timestamptz,
  -- How many of the block's events, from its first, are projected or set aside.
  projected_count int NOT NULL DEFAULT 0,
  -- Events that could not be projected, and when they are tried again; null where there are none.
  set_aside_ids uuid[],
  set_aside_until timestamptz,
  PRIMARY KEY (project_id, journal_id)
);
-- Blocks are compressed already, and ids do not compress.
ALTER TABLE journal
  ALTER COLUMN block SET STORAGE EXTERNAL,
  ALTER COLUMN known_ids SET STORAGE EXTERNAL;
CREATE INDEX journal_pending ON journal (project_id, journal_id)
  WHERE projected_at IS NULL OR set_aside_until IS NOT NULL;
CREATE INDEX journal_projected ON journal (project_id, projected_at)
  WHERE projected_at IS NOT NULL AND set_aside_until IS NULL;
-- What a tail has not shown lies among what was received last.
CREATE INDEX journal_by_receipt ON journal (project_id, received_at);

-- The one store of whole events, as columns in the order of identity, time and id. Segments never
-- change; the projection adds new ones, and merges those of about one size. Format of `head` (what
-- stands where) and `body` (the columns): src/store/segment_head.ts, src/store/segment_columns.ts.
CREATE TABLE segments (
  project_id int NOT NULL,
  segment_id bigint GENERATED ALWAYS AS IDENTITY,
  -- First and last event, in epoch milliseconds.
  from_ms bigint NOT NULL,
  to_ms bigint NOT NULL,
  events int NOT NULL,
  -- Bytes of its different texts, before they were compressed.
  text_bytes bigint NOT NULL,
  version int NOT NULL,
  head bytea NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (project_id, segment_id)
);
-- Both are compressed already, and the body is read in slices.
ALTER TABLE segments
  ALTER COLUMN head SET STORAGE EXTERNAL,
  ALTER COLUMN body SET STORAGE EXTERNAL;

-- What was made of the events so far is made anew.
DROP VIEW stored_events;
DROP TABLE facts, fold_marks, fold_projects, history_segments, sessions, actors, identities;
TRUNCATE terms, technical_names, contexts, traffic, referrers,
  day_totals, session_durations, visitor_days, acquisition_days;

-- Which terms are names of events: others are paths and titles alone.
ALTER TABLE terms ADD COLUMN is_name bool NOT NULL DEFAULT false;
CREATE INDEX terms_of_names ON terms (project_id, term_id) WHERE is_name;

-- One row a project, locked by whoever projects it.
CREATE TABLE projections (
  project_id int PRIMARY KEY,
  -- The site's host that `traffic` was classified with, and the version of the rules.
  site_host text,
  rules_version int,
  -- The zone whose days the rollups count by; null while they are counted again, up to which actor,
  -- and for which zone.
  timezone text,
  recounted_to int,
  recount_timezone text,
  -- Raised whenever an identity gets another actor: who knows all of them need not ask again.
  links_version int NOT NULL DEFAULT 0,
  -- Of what was received before, the journal lacks something; null: it holds all that was ever stored.
  journal_from timestamptz
);

-- What events say of who did them: a user id (kind u), an anonymous id (a), else a daily hash (h).
CREATE TABLE identities (
  -- The earliest event in which an anonymous id stands beside a user id: it decides whose it is.
  linked_ms bigint,
  linked_by uuid,
  project_id int NOT NULL,
  identity_id int NOT NULL,
  -- Itself, or the identity of the user that the anonymous id belongs to.
  actor_id int NOT NULL,
  kind "char" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (project_id, identity_id),
  UNIQUE (project_id, kind, value)
);
CREATE INDEX identities_by_actor ON identities (project_id, actor_id) INCLUDE (identity_id)
  WHERE actor_id <> identity_id;

CREATE TABLE actors (
  first_ms bigint NOT NULL,
  project_id int NOT NULL,
  actor_id int NOT NULL,
  -- The local day of the first event, and those with an event that no bot did, in order.
  first_day int,
  days int[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (project_id, actor_id)
) WITH (fillfactor = 80);
CREATE INDEX actors_by_first ON actors (project_id, first_ms) INCLUDE (actor_id);

-- A session is known by its actor and its first event's time: those of one actor lie apart.
CREATE TABLE sessions (
  first_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  -- First and last page view; null where there is none.
  first_view_ms bigint,
  last_view_ms bigint,
  -- The events that the entry and the exit are told by.
  entry_id uuid NOT NULL,
  exit_id uuid NOT NULL,
  project_id int NOT NULL,
  actor_id int NOT NULL,
  -- All events, those that are page views, those that are neither page view, click nor scroll, and
  -- those that no bot did.
  events int NOT NULL,
  views int NOT NULL,
  customs int NOT NULL,
  humans int NOT NULL,
  -- Those of the first page view, and the path of the last one; where there is none, of the first
  -- and the last event.
  entry_path_id int,
  exit_path_id int,
  context_id int NOT NULL,
  traffic_id int NOT NULL,
  PRIMARY KEY (project_id, actor_id, first_ms)
) WITH (fillfactor = 90);
CREATE INDEX sessions_by_start ON sessions (project_id, first_ms);
-- The sessions of one length in whole seconds: where a median is found exactly.
CREATE INDEX sessions_by_duration
  ON sessions (project_id, ((last_ms - first_ms) / 1000), first_ms) INCLUDE (last_ms, humans);

-- Events that were stored as rows are moved into the journal, a slice at a time while the server works
-- (src/upgrade/earlier_events.ts), and each is dropped once segments have given it back as it was.
ALTER TABLE events RENAME TO earlier_events;
DROP INDEX events_by_arrival;

-- Projects that have such events: how many are not in the journal yet, and the last one that is.
CREATE TABLE earlier_projects (
  project_id int PRIMARY KEY,
  remaining bigint NOT NULL,
  moved_at timestamptz NOT NULL DEFAULT '-infinity',
  moved_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
INSERT INTO earlier_projects (project_id, remaining)
SELECT project_id, count(*) FROM earlier_events GROUP BY project_id;
