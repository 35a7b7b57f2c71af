-- What other products had counted of a project's days: sums, which are no events and never become any.
-- They are shown for the days before the first event of the project's own.

-- One row a source, a local day, and what the day is split by: arrays of one length, an element a value.
CREATE TABLE imported_days (
  project_id int NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Days since 1970-01-01.
  day int NOT NULL,
  -- One of IMPORTED_SOURCES in src/imported/imported_sums.ts.
  source text NOT NULL,
  -- One of IMPORTED_DIMENSIONS there; of `all` the one element is the whole day.
  dimension text NOT NULL,
  -- Of what was imported: the same again changes nothing.
  digest uuid NOT NULL,
  imported_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Null: what has no such value, such as the source of a direct visit.
  value_texts text[] NOT NULL,
  -- Null: the source does not tell it.
  visitors int[] NOT NULL,
  visits int[] NOT NULL,
  pageviews int[] NOT NULL,
  bounces int[] NOT NULL,
  -- The durations of all visits together.
  seconds float8[] NOT NULL,
  -- Page views and custom events.
  events int[] NOT NULL,
  -- Which days are covered by what is read from the index alone.
  PRIMARY KEY (project_id, day, source, dimension)
);
