-- Challenges that a passkey has answered, as SHA-256, until they would have expired: each answer opens
-- one session.
CREATE TABLE used_challenges (
  challenge_hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_challenges_by_end ON used_challenges (expires_at);
