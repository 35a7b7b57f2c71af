-- The greatest number of an identity that was erased or has expired: none is given twice, or an export that has begun
-- could not tell its person from one that came after the erasure.
ALTER TABLE projections ADD COLUMN removed_identity_id int NOT NULL DEFAULT 0;
