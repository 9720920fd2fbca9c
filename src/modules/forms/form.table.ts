import { keptCount, sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { holdsTerm, lowered } from '../../kernel/tables/searchPatterns.js';
import { Form, FormConnection, FormList } from './form.model.js';
import { Submission, SubmissionConnection, SubmissionList } from './submission.model.js';

const searchText = sql`(' ' || ${lowered('t.name')} || ' ' || coalesce(t.slug, ''))`;

/** Forms. An archived one is listed only where that is asked for; its submissions go on leading to it. */
export const formTable = table({
  row: modelRow('Form', Form),
  list: FormList,
  page: FormConnection,
  neverTold: ['submissionCount'],
  computed: {
    submissionCount: keptCount(sql`t.account_id`, 'submissions', sql`'form ' || t.id`),
  },
  carried: ['submissionCount'],
  listed: sql`t.archived_at is null`,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    includeArchived: null,
    search: (text) => holdsTerm(searchText, text),
    isActive: (isActive) => sql`t.is_active = ${isActive}`,
  },
  asked: (_ctx, { filter }, conditions) => ({ conditions, live: filter?.includeArchived ? sql`true` : undefined }),
});

/** What was filled in on all forms. */
export const submissionTable = table({
  row: modelRow('Submission', Submission),
  fixed: ['submittedAt'],
  list: SubmissionList,
  page: SubmissionConnection,
  counted: false,
  sorts: { submittedAt: byTime('submitted_at') },
  byDefault: ['submittedAt', 'desc'],
  conditions: {
    formId: (id) => sql`t.form_id = ${id}::uuid`,
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    submittedFrom: (moment, ctx) => since('t.submitted_at', moment, ctx),
    submittedTo: (moment, ctx) => until('t.submitted_at', moment, ctx),
  },
});
