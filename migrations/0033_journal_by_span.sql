-- With the first event's time, rows that begin after a page are passed over within the index: of a page two weeks back,
-- thousands of rows were read.
DROP INDEX journal_by_time;
CREATE INDEX journal_by_time ON journal (project_id, to_ms, journal_id, from_ms);
