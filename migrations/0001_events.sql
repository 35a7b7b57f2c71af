-- The ground: projects, their keys, and the events exactly as they were stored.
-- Every unique key of a growing table contains project_id, so that the tables can be distributed by it.

CREATE TABLE settings (
  name text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE projects (
  project_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id text NOT NULL UNIQUE,
  name text NOT NULL,
  site_url text,
  timezone text NOT NULL DEFAULT 'UTC',
  allowed_origins text[] NOT NULL DEFAULT '{}',
  ip_storage text CHECK (ip_storage IN ('full', 'truncated', 'none')),
  retention_days int CHECK (retention_days > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A key is kept as the SHA-256 of itself: it has 190 random bits, so a slow hash would add nothing.
CREATE TABLE api_keys (
  key_id text PRIMARY KEY,
  project_id int NOT NULL REFERENCES projects,
  kind text NOT NULL CHECK (kind IN ('public', 'secret')),
  label text,
  key_hash bytea NOT NULL UNIQUE,
  -- The last four characters, so that a person can tell keys apart.
  hint text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_by_project ON api_keys (project_id, created_at);

CREATE TABLE daily_salts (
  day date PRIMARY KEY,
  salt bytea NOT NULL
);

-- Wide columns first, so that no bytes are lost to alignment; NULLs cost one bit each.
CREATE TABLE events (
  occurred_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  pointer_x float8,
  pointer_y float8,
  project_id int NOT NULL,
  viewport_width int,
  viewport_height int,
  screen_width int,
  screen_height int,
  document_width int,
  document_height int,
  depth_px int,
  event_id uuid NOT NULL,
  clock "char" NOT NULL,
  device "char",
  bot bool,
  in_session bool NOT NULL,
  located bool NOT NULL,
  fixed bool,
  rage bool,
  dead bool,
  visitor_hash bytea NOT NULL,
  ip inet,
  country text,
  region text,
  city text,
  name text NOT NULL,
  anonymous_id text,
  user_id text,
  session_id text,
  host text,
  path text,
  url_rest text,
  url text,
  referrer text,
  title text,
  utm_source text,
  utm_medium text,
  utm_campaign text,
  utm_term text,
  utm_content text,
  click_id_kind text,
  browser text,
  os text,
  locale text,
  timezone text,
  selector text,
  properties jsonb,
  extra jsonb,
  PRIMARY KEY (project_id, event_id)
);
CREATE INDEX events_by_time ON events (project_id, occurred_at, event_id);
-- Rows are appended in about the order of their arrival, so a block range index finds the latest
-- arrivals for live tailing at a cost of well under a byte per event.
CREATE INDEX events_by_arrival ON events USING brin (received_at) WITH (pages_per_range = 32);

-- Events as a person reads them: codes spelled out, the URL whole, `properties.server` composed.
CREATE VIEW stored_events AS
SELECT
  e.project_id,
  p.public_id AS project,
  e.event_id,
  e.name,
  e.occurred_at,
  e.received_at,
  CASE e.clock WHEN 'c' THEN 'client' WHEN 'x' THEN 'corrected' WHEN 'l' THEN 'clamped' ELSE 'received' END AS clock,
  e.anonymous_id,
  e.user_id,
  e.session_id,
  coalesce(e.url, 'https://' || e.host || e.path || coalesce(e.url_rest, '')) AS url,
  e.host,
  e.path,
  e.referrer,
  e.title,
  e.utm_source,
  e.utm_medium,
  e.utm_campaign,
  e.utm_term,
  e.utm_content,
  e.click_id_kind,
  e.country,
  e.region,
  e.city,
  e.browser,
  e.os,
  CASE e.device WHEN 'd' THEN 'desktop' WHEN 't' THEN 'tablet' WHEN 'm' THEN 'mobile' WHEN 'o' THEN 'other' END AS device,
  e.bot,
  e.in_session,
  CASE WHEN e.name IN ('click', 'scroll') THEN NULL ELSE e.viewport_width END AS viewport_width,
  CASE WHEN e.name IN ('click', 'scroll') THEN NULL ELSE e.viewport_height END AS viewport_height,
  e.screen_width,
  e.screen_height,
  e.locale,
  e.timezone,
  CASE WHEN e.name IN ('click', 'scroll') THEN jsonb_strip_nulls(jsonb_build_object(
       'x', e.pointer_x, 'y', e.pointer_y, 'depthPx', e.depth_px,
       'fixed', e.fixed, 'rage', e.rage, 'dead', e.dead, 'selector', e.selector,
       'viewportWidth', e.viewport_width, 'viewportHeight', e.viewport_height,
       'documentWidth', e.document_width, 'documentHeight', e.document_height))
     ELSE '{}' END
  -- What a column could not hold exactly stands here too, and is what the client sent.
  || coalesce(e.properties, '{}')
  || jsonb_build_object('server', jsonb_build_object(
       'ip', host(e.ip),
       'hash', translate(encode(e.visitor_hash, 'base64'), '+/=', '-_'),
       'geo', CASE WHEN e.located THEN jsonb_build_object('country', e.country, 'region', e.region, 'city', e.city) END,
       'ingestedAt', to_char(e.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) AS properties,
  e.extra,
  -- The transaction that stored the row: what live tailing has not shown yet.
  e.xmin AS stored_by
FROM events e
JOIN projects p USING (project_id);
