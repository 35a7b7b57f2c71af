-- What events say beside their columns, so that goals and filters need not go back to the events.
ALTER TABLE facts ADD COLUMN properties jsonb;
UPDATE facts f SET properties = e.properties
FROM events e
WHERE e.project_id = f.project_id AND e.event_id = f.event_id AND e.properties IS NOT NULL;

-- Whose is whose, without a look at the table.
DROP INDEX identities_by_actor;
CREATE INDEX identities_by_actor ON identities (project_id, actor_id) INCLUDE (identity_id)
  WHERE actor_id <> identity_id;

-- The facts once more, as columns of numbers in the order of who did them, when, and of the events'
-- ids: what follows actors through time reads these. Segments never change; the fold adds new ones,
-- and merges those of about one size. Formats: src/histories/segment.ts.
CREATE TABLE history_segments (
  segment_id bigint GENERATED ALWAYS AS IDENTITY,
  -- First and last event, in epoch milliseconds.
  from_ms bigint NOT NULL,
  to_ms bigint NOT NULL,
  project_id int NOT NULL,
  events int NOT NULL,
  identities bytea NOT NULL,
  starts bytea NOT NULL,
  times bytea NOT NULL,
  names bytea NOT NULL,
  paths bytea NOT NULL,
  contexts bytea NOT NULL,
  traffics bytea NOT NULL,
  depths bytea NOT NULL,
  ids bytea NOT NULL,
  PRIMARY KEY (project_id, segment_id)
);
-- Columns are narrow already, and read in slices.
ALTER TABLE history_segments
  ALTER COLUMN identities SET STORAGE EXTERNAL,
  ALTER COLUMN starts SET STORAGE EXTERNAL,
  ALTER COLUMN times SET STORAGE EXTERNAL,
  ALTER COLUMN names SET STORAGE EXTERNAL,
  ALTER COLUMN paths SET STORAGE EXTERNAL,
  ALTER COLUMN contexts SET STORAGE EXTERNAL,
  ALTER COLUMN traffics SET STORAGE EXTERNAL,
  ALTER COLUMN depths SET STORAGE EXTERNAL,
  ALTER COLUMN ids SET STORAGE EXTERNAL;

-- Whether all facts of a project are in segments: the next fold sees to it.
ALTER TABLE fold_projects ADD COLUMN has_histories bool NOT NULL DEFAULT false;
-- Raised whenever an identity gets another actor: who knows all of them need not ask again.
ALTER TABLE fold_projects ADD COLUMN links_version int NOT NULL DEFAULT 0;
