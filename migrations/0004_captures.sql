-- Pictures of pages for the heatmaps, and the work of taking them. Paths may be 2,048 characters,
-- too long for an index: `path_digest` is what `terms` has of them, 128 bits of their SHA-256.

-- What a page looked like in windows of one device: a picture never changes, `captured_at` is when
-- the page last looked exactly so.
CREATE TABLE captures (
  captured_at timestamptz NOT NULL,
  project_id int NOT NULL REFERENCES projects,
  -- CSS pixels.
  width_px int NOT NULL,
  height_px int NOT NULL,
  -- The page goes on below the picture.
  is_cut bool NOT NULL,
  path_digest uuid NOT NULL,
  capture_id text NOT NULL,
  device text NOT NULL,
  content_type text NOT NULL,
  content_hash bytea NOT NULL,
  image bytea NOT NULL,
  PRIMARY KEY (project_id, capture_id),
  UNIQUE (project_id, path_digest, device, content_hash)
);
-- Pictures do not compress.
ALTER TABLE captures ALTER COLUMN image SET STORAGE EXTERNAL;

-- What the latest attempt came to, and the last good picture, which outlives later failures.
CREATE TABLE capture_pages (
  attempted_at timestamptz NOT NULL,
  project_id int NOT NULL REFERENCES projects,
  path_digest uuid NOT NULL,
  device text NOT NULL,
  path text NOT NULL,
  status text NOT NULL,
  message text NOT NULL,
  -- The project's when the attempt was made.
  site_url text,
  capture_id text,
  PRIMARY KEY (project_id, path_digest, device)
);

-- The pages that the daily job took last. Where it is full, others were left out.
CREATE TABLE capture_selections (
  selected_at timestamptz NOT NULL,
  project_id int PRIMARY KEY REFERENCES projects,
  is_full bool NOT NULL,
  path_digests uuid[] NOT NULL
);

-- What was asked for at once: by an operator, or by the schedule for the time in `due_at`.
CREATE TABLE capture_jobs (
  created_at timestamptz NOT NULL,
  due_at timestamptz,
  project_id int NOT NULL REFERENCES projects,
  job_id text NOT NULL,
  PRIMARY KEY (project_id, job_id),
  -- However many servers there are, the schedule makes one job.
  UNIQUE (project_id, due_at)
);
-- A job is looked up by its id alone.
CREATE INDEX capture_jobs_by_id ON capture_jobs (job_id);

-- One page in windows of one device, to be photographed.
CREATE TABLE capture_tasks (
  not_before timestamptz NOT NULL,
  finished_at timestamptz,
  project_id int NOT NULL REFERENCES projects,
  task_id bigint GENERATED ALWAYS AS IDENTITY,
  path_digest uuid NOT NULL,
  -- Lower goes first: 0 where somebody waits, 1 for the schedule's.
  priority int NOT NULL,
  -- How often it was begun: who began it before the last time has no say any more.
  claims int NOT NULL DEFAULT 0,
  -- How often it failed in a way that may pass, and how often its server ended meanwhile.
  failures int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  state text NOT NULL CHECK (state IN ('queued', 'running', 'done')),
  device text NOT NULL,
  path text NOT NULL,
  -- Of the last attempt.
  status text,
  message text,
  PRIMARY KEY (project_id, task_id)
);
-- What is not done yet is there once, however many jobs want it.
CREATE UNIQUE INDEX capture_tasks_unfinished ON capture_tasks (project_id, path_digest, device)
  WHERE state <> 'done';

CREATE TABLE capture_job_tasks (
  project_id int NOT NULL,
  job_id text NOT NULL,
  task_id bigint NOT NULL,
  position int NOT NULL,
  PRIMARY KEY (project_id, job_id, task_id),
  FOREIGN KEY (project_id, job_id) REFERENCES capture_jobs ON DELETE CASCADE,
  FOREIGN KEY (project_id, task_id) REFERENCES capture_tasks ON DELETE CASCADE
);
CREATE INDEX capture_job_tasks_by_task ON capture_job_tasks (project_id, task_id);

-- One server takes pictures at a time: the one that renewed the lease last.
CREATE TABLE capture_lease (
  lease text PRIMARY KEY,
  owner text NOT NULL,
  expires_at timestamptz NOT NULL
);
