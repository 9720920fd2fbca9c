import type { Outcome } from '../../kernel/operations/forEachRecord.js';
import type { BulkOutcome, BulkResult, BulkResults } from './bulk.model.js';

const resultOf = <T>({ item, error }: Outcome<T, unknown>, idOf: (item: T) => string): BulkResult => ({
  recordId: idOf(item),
  success: !error,
  error: error?.message ?? null,
  code: error?.code ?? null,
  field: error?.field ?? null,
});

function summaryOf(results: BulkResult[]) {
  const succeeded = results.filter(({ success }) => success).length;
  return { total: results.length, succeeded, failed: results.length - succeeded };
}

/** The counts, with what came of each behind them. */
export function countsOf(outcomes: Outcome<string, unknown>[]): BulkOutcome {
  const results = outcomes.map((outcome) => resultOf(outcome, (id) => id));
  return { ...summaryOf(results), results };
}

/** What came of each, with the counts above. */
export function resultsOf<T extends { id: string }>(outcomes: Outcome<T, unknown>[]): BulkResults {
  const results = outcomes.map((outcome) => resultOf(outcome, ({ id }) => id));
  return { summary: summaryOf(results), results };
}
