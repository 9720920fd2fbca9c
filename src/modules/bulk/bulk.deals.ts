import type { Context } from '../../kernel/context/context.js';
import { clean } from '../../kernel/model/cleaning.js';
import { forEachRecord } from '../../kernel/operations/forEachRecord.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { updateDeal } from '../deals/deal.service.js';
import { BulkDealUpdate, type BulkEditDealsInput, type BulkUpdateDealsInput } from './bulk.model.js';
import { countsOf, resultsOf } from './bulk.outcome.js';
import { changedFields, chosen } from './bulk.targets.js';

async function updateOne(inside: Context, update: BulkDealUpdate) {
  const { id, ...change } = structuredClone({ ...update });
  clean(BulkDealUpdate, change, inside);
  return updateDeal(inside, id, change);
}

/** Contract POST /bulk/deals/update: each as PATCH /deals/{id} would; what is wrong with one is its own result. */
export async function updateDeals(ctx: Context, { updates }: BulkUpdateDealsInput) {
  return resultsOf(
    'Deal',
    await forEachRecord(ctx, updates, { work: updateOne, touches: ({ id }) => [id.toLowerCase()], alike: changedFields }),
  );
}

/**
 * Contract POST /bulk/deals/edit: the same change for all that are named, or that the filters find. Whether a stage and its
 * rules let a deal in is each deal's own matter.
 */
export async function editDeals(ctx: Context, input: BulkEditDealsInput) {
  const ids = await chosen(ctx, 'deal', input);
  const { assignedTo, companyId, contactId } = input.changes;
  const links = { 'changes.assignedTo': 'user', 'changes.companyId': 'company', 'changes.contactId': 'contact' } as const;
  await checkReferences(ctx, links, {
    'changes.assignedTo': assignedTo,
    'changes.companyId': companyId,
    'changes.contactId': contactId,
  });
  const work = (inside: Context, id: string) => updateDeal(inside, id, structuredClone(input.changes));
  return countsOf('Deal', await forEachRecord(ctx, ids, { work, changes: input.changes, noted: input.ids ? undefined : ids }));
}
