import { Entity, Flag, JsonValue, Text } from '../../kernel/model/fields.js';

@Entity('What one condition saw')
export class ConditionSeen {
  @Text(2000, 'Where it stands: trigger.conditions.status', { required: true }) at: string;
  @Text(200, 'The field that it asks', { required: true }) field: string;
  @Text(20, 'How it compares', { required: true }) operator: string;
  @JsonValue(64, 'What the field was compared with; of what is long the beginning') value: unknown;
  @JsonValue(64, 'What the field was; of what is long the beginning') seen: unknown;
  @Flag('Whether it held', { required: true }) holds: boolean;
}
