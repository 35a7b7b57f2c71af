-- What the fold makes of the events: who did what in which session, in narrow rows of numbers.
-- Everything here can be made anew from `events`; only the fold writes it.
--
-- A tick is a place in time and among its equals: epoch milliseconds * 65536 + rank, the rank being
-- that of the event, by its id, among the events of its actor in the same millisecond. `tick >> 16`
-- gives the milliseconds back, before 1970 too.

-- Events that were stored and not folded yet: one row a flush, written in the same transaction.
CREATE TABLE fold_marks (
  project_id int NOT NULL,
  mark_id bigint GENERATED ALWAYS AS IDENTITY,
  event_count int NOT NULL,
  event_ids uuid[] NOT NULL,
  PRIMARY KEY (project_id, mark_id)
);
-- Ids do not compress.
ALTER TABLE fold_marks ALTER COLUMN event_ids SET STORAGE EXTERNAL;

-- One row a project, locked by whoever folds it.
CREATE TABLE fold_projects (
  project_id int PRIMARY KEY,
  -- The site's host that `traffic` was classified with, and the version of the rules.
  site_host text,
  rules_version int,
  -- The zone whose days the rollups count by.
  timezone text
);

-- Names and paths of events. Paths may be 2,048 characters, too long for an index: their SHA-256 is not.
CREATE TABLE terms (
  project_id int NOT NULL,
  term_id int NOT NULL,
  digest uuid NOT NULL,
  term text NOT NULL,
  PRIMARY KEY (project_id, term_id),
  UNIQUE (project_id, digest)
);

-- Where and with what an event was done. Contexts of bots have negative ids, so that leaving bots
-- out needs no look-up.
CREATE TABLE contexts (
  project_id int NOT NULL,
  context_id int NOT NULL,
  digest uuid NOT NULL,
  device "char",
  host text,
  country text,
  region text,
  city text,
  browser text,
  os text,
  PRIMARY KEY (project_id, context_id),
  UNIQUE (project_id, digest)
);

-- Where a session came from: what its first page view said, and what the channel rules made of it.
CREATE TABLE traffic (
  project_id int NOT NULL,
  traffic_id int NOT NULL,
  digest uuid NOT NULL,
  utm_source text,
  utm_medium text,
  utm_campaign text,
  utm_term text,
  utm_content text,
  click_id_kind text,
  referrer_host text,
  host text,
  source text,
  medium text,
  campaign text,
  term text,
  content text,
  referrer text,
  channel text NOT NULL,
  rule text NOT NULL,
  PRIMARY KEY (project_id, traffic_id),
  UNIQUE (project_id, digest)
);

-- What events say of who did them: a user id (kind u), an anonymous id (a), else a daily hash (h).
CREATE TABLE identities (
  -- The earliest event in which an anonymous id stands beside a user id: it decides whose it is.
  linked_at timestamptz,
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
CREATE INDEX identities_by_actor ON identities (project_id, actor_id) WHERE actor_id <> identity_id;

CREATE TABLE actors (
  first_tick bigint NOT NULL,
  project_id int NOT NULL,
  actor_id int NOT NULL,
  -- The local day of the first event, and those with an event that no bot did, in order.
  first_day int,
  days int[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (project_id, actor_id)
) WITH (fillfactor = 80);
CREATE INDEX actors_by_first ON actors (project_id, first_tick) INCLUDE (actor_id);

CREATE TABLE sessions (
  first_tick bigint NOT NULL,
  last_tick bigint NOT NULL,
  -- First and last page view; null where there is none.
  first_view_tick bigint,
  last_view_tick bigint,
  project_id int NOT NULL,
  session_id int NOT NULL,
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
  PRIMARY KEY (project_id, session_id)
) WITH (fillfactor = 90);
CREATE INDEX sessions_by_actor ON sessions (project_id, actor_id, first_tick);
CREATE INDEX sessions_by_start ON sessions (project_id, first_tick);
-- The sessions of one length in whole seconds: where a median is found exactly.
CREATE INDEX sessions_by_duration
  ON sessions (project_id, (((last_tick >> 16) - (first_tick >> 16)) / 1000), first_tick)
  INCLUDE (last_tick, humans);

-- One narrow row an event. The ids of page_view, click and scroll among the terms are 1, 2 and 3.
CREATE TABLE facts (
  tick bigint NOT NULL,
  event_id uuid NOT NULL,
  project_id int NOT NULL,
  actor_id int NOT NULL,
  name_id int NOT NULL,
  context_id int NOT NULL,
  -- Of a click or a scroll, where on its page it belongs; bits: src/sessions/spot.ts.
  spot int NOT NULL,
  path_id int,
  -- Null for events that belong to no session.
  session_id int
);
CREATE INDEX facts_by_actor ON facts (project_id, actor_id, tick);
-- Each fact stands in one of these two: what pages say is looked up by path, the rest by time.
CREATE INDEX facts_by_path ON facts (project_id, name_id, path_id, tick) INCLUDE (actor_id, context_id, spot)
  WHERE name_id <= 3;
CREATE INDEX facts_by_name ON facts (project_id, name_id, tick) INCLUDE (actor_id, context_id)
  WHERE name_id > 3;
-- Facts are appended in about the order of time.
CREATE INDEX facts_by_time ON facts USING brin (project_id, tick) WITH (pages_per_range = 32);

-- Rollups of what no bot did, by local day (days since 1970-01-01 in the project's zone).

CREATE TABLE day_totals (
  events bigint NOT NULL DEFAULT 0,
  pageviews bigint NOT NULL DEFAULT 0,
  -- Of sessions that start on the day.
  sessions bigint NOT NULL DEFAULT 0,
  bounces bigint NOT NULL DEFAULT 0,
  duration_ms bigint NOT NULL DEFAULT 0,
  project_id int NOT NULL,
  day int NOT NULL,
  PRIMARY KEY (project_id, day)
);

-- How many sessions that start on the day last how many whole seconds (-1: of no length at all): in
-- which second a median lies.
CREATE TABLE session_durations (
  project_id int NOT NULL,
  day int NOT NULL,
  seconds int NOT NULL,
  sessions int NOT NULL,
  PRIMARY KEY (project_id, day, seconds)
);

-- How many actors were there on a day, by the day on which they were there before. The distinct
-- actors of any span of days are those whose day before lies before the span: a sum, not a union.
CREATE TABLE visitor_days (
  project_id int NOT NULL,
  day int NOT NULL,
  -- -2147483648 where there was none.
  prev_day int NOT NULL,
  -- The first such day of the actor, and the day of its first event ever, a bot's included.
  cohort_day int NOT NULL,
  first_day int NOT NULL,
  actors int NOT NULL,
  PRIMARY KEY (project_id, day, prev_day, cohort_day, first_day)
);

-- Sessions by where they come from, begin and are made, by the local day on which they start.
-- `dimension` is what acquisition can be split by: 0 the unsplit whole, 1 channel, 2 source, 3 medium,
-- 4 campaign, 5 term, 6 content, 7 referrer, 8 entry path, 9 country, 10 region, 11 city, 12 browser,
-- 13 operating system, 14 device. A value is known by the least number of traffic, contexts or terms
-- that has it, sign apart; 0: a missing path. Lists, since a row for each of their places would
-- weigh ten times as much and take the fold three times as long.
CREATE TABLE acquisition_days (
  project_id int NOT NULL,
  day int NOT NULL,
  value_number int NOT NULL,
  dimension smallint NOT NULL,
  -- Sessions by their channel rule, which is known by the least number of traffic that has it.
  rules int[] NOT NULL,
  sessions int[] NOT NULL,
  bounces int[] NOT NULL,
  pageviews int[] NOT NULL,
  -- Actors who came by the value on the day, by the day on which they came by it before, as in
  -- visitor_days, and, only where there was none before, by the day of their first event ever.
  prev_days int[] NOT NULL,
  first_days int[] NOT NULL,
  actors int[] NOT NULL,
  PRIMARY KEY (project_id, dimension, day, value_number)
) WITH (fillfactor = 70);

-- Events that were stored before there was a fold.
INSERT INTO fold_marks (project_id, event_count, event_ids)
SELECT project_id, count(*), array_agg(event_id)
FROM (
  SELECT project_id, event_id, (row_number() OVER (PARTITION BY project_id ORDER BY occurred_at, event_id) - 1) / 2000 AS part
  FROM events
) AS stored
GROUP BY project_id, part
ORDER BY project_id, part;
