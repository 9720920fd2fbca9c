import { sql } from '../../kernel/database/sql.js';
import { relatedRows } from '../../kernel/lists/relatedRows.js';
import { type DealRow, wholeDeal, wholeDealRow } from './deal.columns.js';

const by = (parent: string, order?: string) =>
  relatedRows<DealRow>({ table: 'deals', columns: wholeDeal, row: wholeDealRow, parent, order, live: sql`t.deleted_at is null` });

/** The newest deals with contacts. */
export const dealsOfContacts = by('contact_id');
/** The newest deals with companies. */
export const dealsOfCompanies = by('company_id');
/** The newest deals that users look after. */
export const dealsOfUsers = by('assigned_to');
/** The newest deals of pipelines. */
export const dealsOfPipelines = by('pipeline_id');
/** The deals of stages, in the order of the board. */
export const dealsOfStages = by('stage_id', 't.position, t.id');
