-- The version before does not know the column, and goes on writing deals while processes are replaced one by one: what it writes has
-- the default, which said that none of them follows its stage. Null says that it is to be compared with the stage.
ALTER TABLE "deals" ALTER COLUMN "probability_from_stage" DROP NOT NULL, ALTER COLUMN "probability_from_stage" DROP DEFAULT;
