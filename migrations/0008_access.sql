-- Who may lead captures into the own network, and which tokens hold no more.

-- Whether somebody who speaks for the whole deployment set the site's URL: only such a URL may name an
-- address of the server's own machine or network. Of URLs set before, nobody knows.
ALTER TABLE projects ADD COLUMN site_url_by_operator bool NOT NULL DEFAULT false;

-- One row each time that all tokens were revoked: those of earlier epochs hold no more.
CREATE TABLE token_epochs (
  epoch int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  begun_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
