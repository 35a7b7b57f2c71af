-- People who sign in, what they sign in with, and the links that let them in for the first time.

CREATE TABLE people (
  person_id text PRIMARY KEY,
  -- In lower case: an address is one person's however it is typed.
  email text NOT NULL UNIQUE,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
  -- Public ids of projects, or {*} for every project there is and will be.
  projects text[] NOT NULL,
  -- Goes up when the role or the projects change: tokens that say an earlier number hold no more.
  rights int NOT NULL DEFAULT 1,
  -- The scrypt hash with its parameters and salt; null: signs in by other means, or not yet.
  password text,
  -- When they first could sign in by themselves; null: invited only.
  joined_at timestamptz,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz
);

-- Links that work once: set-up of the first owner, invitation, reset. Of each only the SHA-256 of what
-- it holds. Used and expired ones are kept for a while, so that they can be told from forged ones.
CREATE TABLE person_links (
  token_hash bytea PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('owner', 'invitation', 'reset')),
  -- Null for the set-up link, which makes its person.
  person_id text REFERENCES people ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX person_links_of_person ON person_links (person_id);

-- One row a browser that is signed in; who signs out has none. The cookie's value is kept as its SHA-256.
CREATE TABLE person_sessions (
  session_id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  person_id text NOT NULL REFERENCES people ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- What people know a session by: "Firefox on Windows", "Berlin, DE", the address (as IP_STORAGE says).
  device text,
  place text,
  address text
);
CREATE INDEX person_sessions_of_person ON person_sessions (person_id);

-- Sign-ins that failed or are under way, by the SHA-256 of the account or the address they came from.
CREATE TABLE sign_in_attempts (
  subject bytea PRIMARY KEY,
  tried_at timestamptz[] NOT NULL
);

CREATE TABLE passkeys (
  -- As the authenticator names it, in base64url.
  credential_id text PRIMARY KEY,
  person_id text NOT NULL REFERENCES people ON DELETE CASCADE,
  name text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_of_person ON passkeys (person_id);

-- Who somebody is to an identity provider.
CREATE TABLE oidc_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  person_id text NOT NULL REFERENCES people ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX oidc_identities_of_person ON oidc_identities (person_id);
