-- Of a session's page views and custom events those that undo no bounce (`$interactive: false`). What
-- was stored before had none.
ALTER TABLE sessions
  ADD COLUMN passive_views int NOT NULL DEFAULT 0,
  ADD COLUMN passive_customs int NOT NULL DEFAULT 0;
