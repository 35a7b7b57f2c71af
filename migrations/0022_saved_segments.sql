-- Whom people ask about again: filters and conditions on actors, as the JSON that the API takes.

CREATE TABLE saved_segments (
  project_id int NOT NULL REFERENCES projects,
  slug text NOT NULL,
  title text NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, slug)
);
