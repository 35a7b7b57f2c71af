-- Titles and referrers of events beside the segments' other numbers, so that reads need not look up
-- stored events for them. They are fetched for reads that ask for them alone, and mostly the same
-- from event to event: PostgreSQL compresses them. The first fold makes the histories of each
-- project anew.
DELETE FROM history_segments;
ALTER TABLE history_segments
  ADD COLUMN titles bytea NOT NULL,
  ADD COLUMN referrers bytea NOT NULL;
UPDATE fold_projects SET has_histories = false;

-- Referrers of events by their SHA-256; titles stand among the terms.
CREATE TABLE referrers (
  project_id int NOT NULL,
  referrer_id int NOT NULL,
  digest uuid NOT NULL,
  address text NOT NULL,
  -- Without `www.`; null where it is the event's own.
  host text,
  PRIMARY KEY (project_id, referrer_id),
  UNIQUE (project_id, digest)
);
