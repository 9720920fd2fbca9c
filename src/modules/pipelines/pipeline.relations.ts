import { recordsOf } from '../../kernel/tables/answerField.js';
import { relation } from '../../kernel/tables/relation.js';
import { DeletedStage, mostStages } from './pipeline.model.js';
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

/** What deleting a stage answers leads to what it changed. */
export const pipelineAnswers = recordsOf(DeletedStage, {
  movedToStage: [stageTable, 'movedTo', 'The stage that its deals stand in now; null where there were none'],
  pipeline: [pipelineTable, 'pipelineId', 'The pipeline that had it, as it is now'],
});
