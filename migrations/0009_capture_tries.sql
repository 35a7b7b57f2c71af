-- How often a page had failed when the job was queued: a later failure is a try of this job.
ALTER TABLE capture_job_tasks ADD COLUMN failures_before int NOT NULL DEFAULT 0;
