-- What is told without being asked: digests and alerts, the webhooks that they go to, and what became
-- of each message.

CREATE TABLE digests (
  project_id int NOT NULL REFERENCES projects,
  slug text NOT NULL,
  title text NOT NULL,
  -- As the API takes it.
  definition jsonb NOT NULL,
  -- Where whoever saved it found the server: where the links of its messages lead.
  address text NOT NULL,
  -- When it is looked at next.
  due_at timestamptz NOT NULL,
  -- The server that looks at it has until then; by the database's clock. Null: none does.
  claimed_until timestamptz,
  -- Why the last look came to nothing, in a sentence; null: it did not.
  problem text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, slug)
);
CREATE INDEX digests_due ON digests (due_at);

CREATE TABLE alerts (
  project_id int NOT NULL REFERENCES projects,
  slug text NOT NULL,
  title text NOT NULL,
  definition jsonb NOT NULL,
  address text NOT NULL,
  due_at timestamptz NOT NULL,
  claimed_until timestamptz,
  problem text,
  -- Since when what it waits for holds; null: it does not.
  firing_since timestamptz,
  -- What it has told of and that still holds, so that nothing is told twice: findings by their names.
  told text[] NOT NULL DEFAULT '{}',
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, slug)
);
CREATE INDEX alerts_due ON alerts (due_at);

CREATE TABLE webhooks (
  project_id int NOT NULL REFERENCES projects,
  slug text NOT NULL,
  title text NOT NULL,
  definition jsonb NOT NULL,
  -- Whether somebody for every project named the URL: it may then be of the server's own network.
  by_operator boolean NOT NULL,
  -- whsec_…, as it is: each message is signed with it, so that its hash would be of no use, and a key that
  -- it were encrypted with would lie beside it in this database. No reply and no log line shows it again.
  secret text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, slug)
);

-- One row a message and receiver; kept 30 days.
CREATE TABLE deliveries (
  delivery_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- msg_…: the same for the same message to the same receiver, however often it is sent.
  delivery_id text NOT NULL UNIQUE,
  project_id int NOT NULL REFERENCES projects,
  source text NOT NULL CHECK (source IN ('digest', 'alert', 'webhook')),
  slug text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('mail', 'webhook')),
  -- An e-mail address, or the slug of a webhook.
  receiver text NOT NULL,
  -- What is said, before it is written as a mail or for a chat.
  message jsonb NOT NULL,
  status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'sent', 'failed', 'dropped')),
  tries int NOT NULL DEFAULT 0,
  -- What the last try came to, in words.
  outcome text,
  created_at timestamptz NOT NULL,
  -- When it is tried next; null: never again.
  due_at timestamptz,
  claimed_until timestamptz,
  ended_at timestamptz
);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_of_project ON deliveries (project_id, delivery_no);
CREATE INDEX deliveries_by_time ON deliveries (created_at);
