-- A run that is retried, or ended with its workflow, may have begun more than 24.8 days before: so many milliseconds are no integer.
ALTER TABLE "workflow_runs" ALTER COLUMN "duration_ms" SET DATA TYPE DECIMAL(15,0);
