-- Archives read segments block by block while the server works. Until this moment segments of the
-- project are not merged, so that none of their events is read twice or missed.
ALTER TABLE projections ADD COLUMN merging_held_until timestamptz;

-- The segment in whose place this one stands since something was erased or expired; null: none.
ALTER TABLE segments ADD COLUMN origin_id bigint;
