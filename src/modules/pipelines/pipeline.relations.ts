import { relation } from '../../kernel/tables/relation.js';
import { mostStages } from './pipeline.model.js';
import { pipelineTable, stageTable } from './pipeline.table.js';

export const pipelineRelations = relation(stageTable, 'pipelineId', pipelineTable, {
  one: { name: 'pipeline', description: 'The pipeline that it belongs to', required: true },
  many: {
    name: 'stages',
    description: 'Its stages, in their order',
    listed: { by: 't.sort_order, t.id', holds: mostStages },
    record: ['id', 'pipelineId', 'name', 'color', 'sortOrder', 'isWon', 'isLost', 'probability', 'lostReasonRequired', 'lostReasons'],
  },
});
