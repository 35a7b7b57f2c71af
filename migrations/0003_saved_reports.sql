-- What people save: named funnels and goals, as the JSON that the API takes.

CREATE TABLE saved_funnels (
  project_id int NOT NULL REFERENCES projects,
  slug text NOT NULL,
  title text NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, slug)
);

CREATE TABLE goals (
  project_id int NOT NULL REFERENCES projects,
  slug text NOT NULL,
  title text NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, slug)
);
