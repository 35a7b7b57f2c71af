-- Until when a mark is left alone: it holds one event that could not be folded. Null of all others.
ALTER TABLE fold_marks ADD COLUMN set_aside_until timestamptz;

-- How far the rollups have been counted again (the next actor), for which days (`timezone` is null
-- meanwhile, and nothing of the rollups holds), and how far the histories have been made.
ALTER TABLE fold_projects
  ADD COLUMN recounted_to int,
  ADD COLUMN recount_timezone text,
  ADD COLUMN histories_to int;
