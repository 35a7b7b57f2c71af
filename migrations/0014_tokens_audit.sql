-- Tokens that one sees, what was done by whom, and public keys whole.

-- Public keys stand in every page's source: they are shown for as long as they live. Null for secret
-- keys, and for keys that were made before, of which nothing but the hash and the hint is known.
ALTER TABLE api_keys ADD COLUMN key text CHECK (key IS NULL OR kind = 'public');

-- One row an API token, until it is revoked. The token itself is not kept.
CREATE TABLE api_tokens (
  -- tok_…: the `jti` of the token.
  token_id text PRIMARY KEY,
  name text NOT NULL,
  scopes text[] NOT NULL,
  -- Public ids of projects, or {*} for every project there is and will be.
  projects text[] NOT NULL,
  -- Whose it is: it ends with the person. Null where no person made it.
  person_id text REFERENCES people ON DELETE CASCADE,
  -- The API token that made it: it ends with that one.
  parent_id text REFERENCES api_tokens ON DELETE CASCADE,
  -- Who made it, as the audit names them.
  made_by text NOT NULL,
  -- The epoch in which it was made (token_epochs).
  epoch int NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- To the minute.
  last_used_at timestamptz
);
CREATE INDEX api_tokens_by_parent ON api_tokens (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX api_tokens_by_person ON api_tokens (person_id) WHERE person_id IS NOT NULL;

-- Who did what to people, roles, projects, keys, tokens, shares, erasures and exports; kept 400 days.
CREATE TABLE audit (
  audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- A person's e-mail, or the subject of a token.
  who text NOT NULL,
  -- One of AUDIT_ACTIONS in src/audit/audit.ts.
  what text NOT NULL,
  -- To what it was done, in words for people.
  subject text NOT NULL,
  -- Null: it concerns the whole deployment.
  project_id int,
  -- The client's address; null: a shell on the server's own machine.
  from_address text
);
CREATE INDEX audit_by_project ON audit (project_id, audit_id);
CREATE INDEX audit_by_time ON audit (at);
