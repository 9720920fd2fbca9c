import type { Context } from '../kernel/context/context.js';
import type { CreateImportInput } from '../modules/imports/import.model.js';
import { createImport, processImport } from '../modules/imports/import.service.js';

/** A list from a fair, by which contacts were changed; it is worked off as soon as the server has started. */
export async function addImport(ctx: Context, contacts: string[]): Promise<void> {
  const rows = contacts.slice(0, 5).map((id) => ({ id, jobTitle: 'Head of Purchasing' }));
  const input: Partial<CreateImportInput> = {
    name: 'Fair in Berlin',
    rows: [...rows, { id: 'unknown', jobTitle: 'Buyer' }],
    mode: 'update',
    matchOn: 'id',
  };
  const { id } = await createImport(ctx, input as CreateImportInput);
  await ctx.transaction((inside) => processImport(inside, id));
}
