-- AlterTable
ALTER TABLE "automation_runs" ALTER COLUMN "duration_ms" SET DATA TYPE DECIMAL(15,0);

-- AlterTable
ALTER TABLE "automation_step_logs" ALTER COLUMN "duration_ms" SET DATA TYPE DECIMAL(15,0);

-- AlterTable
ALTER TABLE "automations" DROP COLUMN "ext_secret";
