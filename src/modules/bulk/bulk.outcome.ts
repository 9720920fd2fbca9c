import type { Outcome } from '../../kernel/operations/forEachRecord.js';
import type { BulkOutcome, BulkResult, BulkResults } from './bulk.model.js';

/** The records that a bulk operation is about. */
type Type = 'Contact' | 'Deal';

const resultOf = <T>(recordType: Type, { item, error }: Outcome<T, unknown>, idOf: (item: T) => string): BulkResult => ({
  recordType,
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
export function countsOf(type: Type, outcomes: Outcome<string, unknown>[]): BulkOutcome {
  const results = outcomes.map((outcome) => resultOf(type, outcome, (id) => id));
  return { ...summaryOf(results), results };
}

/** What came of each, with the counts above. */
export function resultsOf<T extends { id: string }>(type: Type, outcomes: Outcome<T, unknown>[]): BulkResults {
  const results = outcomes.map((outcome) => resultOf(type, outcome, ({ id }) => id));
  return { summary: summaryOf(results), results };
}
