import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, assignedUser, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { dealEvents } from './deal.events.js';
import { Deal } from './deal.model.js';
import { onContactDeleted, onPipelineDeleted, onStageDeleted, onUserRemoved, touchDeal } from './deal.reactions.js';
import { dealRelations } from './deal.relations.js';
import { DealResolver } from './deal.resolver.js';
import { findDeal } from './deal.service.js';
import { dealLineTable, dealTable } from './deal.table.js';

/** The contract's names of the filters, those in snake_case left out. */
const names = {
  ...{ pipeline: 'filter.pipelineId', pipelineId: 'filter.pipelineId', pipelineName: 'filter.pipelineName' },
  ...{ stage: 'filter.stageId', stageId: 'filter.stageId', stageName: 'filter.stageName', assignedTo: 'filter.assignedTo' },
  ...{ minValue: 'filter.minValue', value_min: 'filter.minValue', maxValue: 'filter.maxValue', value_max: 'filter.maxValue' },
  ...{ needsAction: 'filter.needsAction', viewId: 'filter.viewId' },
};

/** What a deal carries along of the records that it leads to. */
const related = {
  pipeline: 'pipeline { id name isDefault }',
  stage: 'stage { id name color sortOrder isWon isLost probability }',
  contact: 'contact { id firstName lastName email phone company }',
  company: 'company { id name domain }',
  assignedUser,
};

export default defineModule({
  name: 'deals',
  about: 'Deals on their way through a pipeline',
  tables: [dealTable, dealLineTable],
  relations: dealRelations,
  resolvers: [DealResolver],
  filterable: { deal: dealTable },
  references: { deal: { of: dealTable } },
  events: [
    recordFeed(dealEvents, {
      record: () => Deal,
      find: findDeal,
      by: {
        pipelineId: 'Only deals that come into, are in or leave this pipeline',
        stageId: 'Only deals that come into, are in or leave this stage',
        contactId: 'Only deals with this contact',
        companyId: 'Only deals with this company',
        assignedTo: 'Only deals that this user looks after, or did',
      },
      access: { scope: 'deals' },
    }),
  ],
  on: {
    'stage.deleted': onStageDeleted,
    'pipeline.deleted': onPipelineDeleted,
    'user.removed': onUserRemoved,
    'contact.deleted': onContactDeleted,
    'note.created': touchDeal,
    'task.created': touchDeal,
    'task.completed': touchDeal,
  },
  routes: [
    list('GET /deals', 'deals', {
      as: 'page',
      query: names,
      include: related,
      extras: { summary: 'summary { count totalValue byStage { stageId name count totalValue currency } }' },
    }),
    make('POST /deals', 'createDeal', { also: [402, 404, 422], hot: true }),
    read('GET /deals/{id}', 'deal', { with: Object.values(related).join(' '), hot: true }),
    edit('PATCH /deals/{id}', 'updateDeal', { hot: true, also: [422] }),
    drop('DELETE /deals/{id}', 'deleteDeal'),
    act('POST /deals/{id}/restore', 'restoreDeal', { also: [402, 409] }),
  ],
});
