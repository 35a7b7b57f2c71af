-- Dashboards that are shown to whoever has their link.

CREATE TABLE shares (
  -- It stands in the link, and opens it: 190 random bits. Kept as it is, so that the link can be copied again.
  share_id text PRIMARY KEY,
  project_id int NOT NULL REFERENCES projects,
  title text NOT NULL,
  views text[] NOT NULL,
  -- As the API takes them; a visitor's own only add to them.
  filters jsonb NOT NULL,
  -- Groups of fewer visitors are not told.
  minimum_visitors int NOT NULL,
  -- Origins whose pages may hold the dashboard in a frame; {}: none may.
  embed_origins text[] NOT NULL,
  -- The scrypt hash with its parameters and salt; null: the link alone opens it.
  password text,
  -- Goes up when the password changes: tokens that say an earlier number hold no more.
  epoch int NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  expires_at timestamptz
);
CREATE INDEX shares_by_project ON shares (project_id, created_at);
