-- Whether a deal's probability is that of its stage: compared with what the stage says now, it would be taken for another one once the
-- stage is edited or deleted.
ALTER TABLE "deals" ADD COLUMN "probability_from_stage" BOOLEAN NOT NULL DEFAULT false;
