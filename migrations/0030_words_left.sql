-- Whether some expired events have gone and their words, such as paths, have not: those go once, with the last
-- events, and a server may be killed before.
ALTER TABLE projections ADD COLUMN words_left bool NOT NULL DEFAULT false;
