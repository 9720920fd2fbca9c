import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { workOnRun } from './run.due.js';
import { WorkflowRun, workflowRunEvents } from './run.model.js';
import { startRuns, wanted } from './run.reader.js';
import { findRun, onContactDeleted, runRows } from './run.service.js';
import { oldRuns } from './run.sweeps.js';
import { runTable } from './run.table.js';
import { Workflow, workflowEvents } from './workflow.model.js';
import { workflowRelations } from './workflow.relations.js';
import { WorkflowResolver, WorkflowRunResolver } from './workflow.resolver.js';
import { findWorkflow, usesAs } from './workflow.service.js';
import { workflowTable } from './workflow.table.js';

const access = { scope: 'workflows' };
const actor = { kind: 'workflow', id: null, name: 'Workflows' } as const;
const ofRun = { id: 'workflowId', runId: 'id' };

export default defineModule({
  name: 'workflows',
  about: 'Simple rules: when something happens, a few actions follow',
  tables: [workflowTable, runTable],
  relations: workflowRelations,
  resolvers: [WorkflowResolver, WorkflowRunResolver],
  references: { workflow: { of: workflowTable } },
  uses: { template: usesAs('templateId'), sequence: usesAs('sequenceId'), user: usesAs('userId', 'assignedTo') },
  events: [
    recordFeed(workflowEvents, { record: () => Workflow, find: findWorkflow, access }),
    recordFeed(workflowRunEvents, {
      record: () => WorkflowRun,
      find: findRun,
      by: { workflowId: 'Only runs of this workflow', contactId: 'Only runs about this contact' },
      access,
      startsNothing: true,
    }),
  ],
  on: { 'contact.deleted': onContactDeleted },
  readers: { workflows: { actor, wanted, make: startRuns } },
  sweeps: { oldWorkflowRuns: oldRuns },
  due: {
    workflowRuns: { table: 'workflow_runs', actor, concurrency: 32, work: workOnRun, brings: runRows.whole, mayForgetTaking: true },
  },
  routes: [
    list('GET /workflows', 'workflows', { as: 'page' }),
    make('POST /workflows', 'createWorkflow', { also: [402] }),
    read('GET /workflows/{id}', 'workflow'),
    edit('PATCH /workflows/{id}', 'updateWorkflow', { also: [402, 422] }),
    drop('DELETE /workflows/{id}', 'deleteWorkflow'),
    act('POST /workflows/{id}/activate', 'activateWorkflow', { also: [402, 422] }),
    act('POST /workflows/{id}/deactivate', 'deactivateWorkflow'),
    read('GET /workflows/{id}/signing-secret', 'workflowSigningSecret'),
    act('POST /workflows/{id}/dry-run', 'dryRunWorkflow'),
    list('GET /workflows/{id}/runs', 'runsOfWorkflow', { as: 'page' }),
    read('GET /workflows/{id}/runs/{runId}', 'workflowRun', { pathArgs: ofRun }),
    read('GET /workflows/{id}/runs/{runId}/explain', 'workflowRunExplanation', { pathArgs: ofRun }),
    act('POST /workflows/{id}/runs/{runId}/retry', 'retryWorkflowRun', { pathArgs: ofRun, also: [409] }),
  ],
});
