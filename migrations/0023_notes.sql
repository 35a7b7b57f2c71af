-- What happened to a site, as people and deployments note it: it is shown on charts.
CREATE TABLE notes (
  project_id int NOT NULL,
  note_id text NOT NULL,
  -- One of the two: a local day, as days since 1970-01-01, or an instant in epoch milliseconds.
  day int,
  at_ms bigint,
  text text NOT NULL,
  -- Who wrote it, in words that people read.
  written_by text NOT NULL,
  -- The API key that it came by; null: a person's or a token's.
  key_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, note_id),
  CHECK (num_nonnulls(day, at_ms) = 1)
);
