import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Pipeline, pipelineEvents, Stage, stageEvents } from './pipeline.model.js';
import { pipelineAnswers, pipelineRelations } from './pipeline.relations.js';
import { PipelineResolver, StageResolver } from './pipeline.resolver.js';
import { getPipeline, stageLoader } from './pipeline.service.js';
import { pipelineTable, stageTable } from './pipeline.table.js';

const statistics = 'statistics { dealCount totalValue weightedValue wonValue byStage { stageId name dealCount totalValue weightedValue } }';
const position = { position: 'order' };

const ofPipeline = { id: 'pipelineId' };
const ofStage = { id: 'pipelineId', stageId: 'id' };

export default defineModule({
  name: 'pipelines',
  about: 'Pipelines and their stages',
  tables: [pipelineTable, stageTable],
  relations: pipelineRelations,
  answers: pipelineAnswers,
  references: { pipeline: { of: pipelineTable }, stage: { of: stageTable } },
  resolvers: [PipelineResolver, StageResolver],
  events: [
    recordFeed(pipelineEvents, { record: () => Pipeline, find: getPipeline, access: { scope: 'deals' } }),
    recordFeed(stageEvents, {
      record: () => Stage,
      find: (ctx, id) => stageLoader(ctx).load(id),
      by: { pipelineId: 'Only stages of this pipeline' },
      access: { scope: 'deals' },
    }),
  ],
  routes: [
    list('GET /pipelines', 'pipelines', { as: 'bare', pagingHeaders: true }),
    make('POST /pipelines', 'createPipeline', { also: [402, 422] }),
    read('GET /pipelines/{id}', 'pipeline', { with: statistics }),
    edit('PATCH /pipelines/{id}', 'updatePipeline', { also: [422] }),
    drop('DELETE /pipelines/{id}', 'deletePipeline'),
    read('GET /pipelines/{id}/stages', 'stages', { as: 'bare', pathArgs: ofPipeline }),
    make('POST /pipelines/{id}/stages', 'createStage', { pathArgs: ofPipeline, body: position, also: [402, 422] }),
    edit('PATCH /pipelines/{id}/stages/{stageId}', 'updateStage', { pathArgs: ofStage, body: position, also: [422] }),
    drop('DELETE /pipelines/{id}/stages/{stageId}', 'deleteStage', { pathArgs: ofStage, also: [409] }),
  ],
});
