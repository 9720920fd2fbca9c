import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { ConditionSeen } from '../actions/action.model.js';
import { onWorkspaceUpdated, runSchedule } from './automation.due.js';
import { Automation, automationEvents } from './automation.model.js';
import { automationAnswers, automationRelations } from './automation.relations.js';
import { AutomationResolver } from './automation.resolver.js';
import { findAutomation } from './automation.service.js';
import { automationTable } from './automation.table.js';
import { usesInAutomations } from './automation.uses.js';
import { goOn } from './run.due.js';
import { onContactDeleted } from './run.end.js';
import { AutomationRunExplanation, BehindRun, NextStep } from './run.explain.model.js';
import { AutomationRun, AutomationStepLog, automationRunEvents, automationStepLogEvents } from './run.model.js';
import { readEvents, wanted } from './run.reader.js';
import { AutomationRunResolver, AutomationStepLogResolver } from './run.resolver.js';
import { findRun, findStep } from './run.service.js';
import { oldRuns } from './run.sweeps.js';
import { automationRunTable, automationStepLogTable, runRows } from './run.table.js';

const access = { scope: 'automations' };
const actor = { kind: 'automation', id: null, name: 'Automations' } as const;

const members = (type: new () => object, more: Record<string, string> = {}) =>
  namesOf(type)
    .map((name) => more[name] ?? name)
    .join(' ');
const history = `runs(first: 20) { nodes { ${members(AutomationRun)} } }`;
const parts = {
  conditions: `conditions { ${members(ConditionSeen)} }`,
  next: `next { ${members(NextStep)} }`,
  causes: `causes { ${members(BehindRun)} }`,
};
const explained = `explanation { ${members(AutomationRunExplanation, parts)} } stepLogs(first: 200) { nodes { ${members(AutomationStepLog)} } }`;

export default defineModule({
  name: 'automations',
  about: 'Graphs of steps that run when something happens',
  tables: [automationTable, automationRunTable, automationStepLogTable],
  relations: automationRelations,
  answers: automationAnswers,
  resolvers: [AutomationResolver, AutomationRunResolver, AutomationStepLogResolver],
  uses: { template: usesInAutomations, sequence: usesInAutomations, user: usesInAutomations },
  events: [
    recordFeed(automationEvents, { record: () => Automation, find: findAutomation, access }),
    recordFeed(automationRunEvents, {
      record: () => AutomationRun,
      find: findRun,
      by: { automationId: 'Only runs of this automation', contactId: 'Only runs for this contact' },
      access,
      startsNothing: true,
    }),
    recordFeed(automationStepLogEvents, {
      record: () => AutomationStepLog,
      find: findStep,
      by: { automationId: 'Only steps of runs of this automation', runId: 'Only steps of this run' },
      access,
      startsNothing: true,
    }),
  ],
  on: { 'contact.deleted': onContactDeleted, 'workspace.updated': onWorkspaceUpdated },
  readers: { automations: { actor, wanted, make: readEvents } },
  sweeps: { oldAutomationRuns: oldRuns },
  due: {
    automations: { table: 'automations', actor, pause: 60, work: runSchedule },
    automationRuns: {
      table: 'automation_runs',
      actor,
      concurrency: 32,
      pause: 60,
      work: goOn,
      brings: runRows.whole,
      mayForgetTaking: true,
    },
  },
  routes: [
    list('GET /automations', 'automations', { as: 'bare', pagingHeaders: true }),
    make('POST /automations', 'createAutomation', { also: [402, 422] }),
    list('GET /automations/events', 'triggerEvents', { as: 'bare' }),
    act('POST /automations/resolve', 'resolveNames', { as: 'bare' }),
    read('GET /automations/{id}', 'automation', { with: history }),
    edit('PATCH /automations/{id}', 'updateAutomation', { also: [402, 422] }),
    drop('DELETE /automations/{id}', 'deleteAutomation'),
    act('POST /automations/{id}/publish', 'publishAutomation', {
      also: [402, 422],
      tells: { 422: { 'blockers?': '[AutomationBlocker!]!' } },
    }),
    read('GET /automations/{id}/signing-secret', 'automationSigningSecret'),
    act('POST /automations/{id}/dry-run', 'dryRunAutomation'),
    act('POST /automations/{id}/bulk-enroll', 'enrollInAutomation', { also: [402, 422] }),
    read('GET /automations/{id}/analytics', 'automationAnalytics'),
    read('GET /automations/{id}/node-stats', 'automationNodeStats', { as: 'bare' }),
    list('GET /automations/{id}/step-logs', 'stepsOfAutomation', { as: 'page' }),
    list('GET /automations/{id}/runs', 'runsOfAutomation', { as: 'page' }),
    read('GET /automations/{id}/runs/{runId}', 'runOfAutomation', { pathArgs: { id: 'automationId', runId: 'id' }, with: explained }),
  ],
});
