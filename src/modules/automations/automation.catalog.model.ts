import { Entity, Input, JsonObject, Nested, OneOf, oneOf, Ref, Text } from '../../kernel/model/fields.js';
import { RestName } from '../../kernel/model/recordMarks.js';
import { AutomationKind } from './automation.model.js';

/** Decisions, "automations/events". */
@Entity('An event that starts runs, and what it carries', { scope: 'automations' })
export class TriggerEvent {
  @Text(100, 'Its name', { required: true }) event: string;
  @Text(200, 'The same in words', { required: true }) label: string;
  @OneOf(AutomationKind, 'The kind of automations that it is listed for: every event starts both', { required: true })
  kind: keyof typeof AutomationKind;
  @JsonObject(1024, 'The JSON Schema (draft 2020-12) of what it carries, by which every payload is valid', { required: true })
  payloadSchema: object;
  @JsonObject(1024, 'A payload as an example', { required: true }) sample: object;
}

/** The most names of one request. */
export const mostNames = 100;

export const ResolvableType = oneOf(
  'ResolvableType',
  {
    contact: 'A contact',
    company: 'A company',
    deal: 'A deal',
    pipeline: 'A pipeline',
    stage: 'A stage of a pipeline',
    tag: 'A tag',
    user: 'A member of the workspace',
    template: 'A template',
    sequence: 'A sequence',
    form: 'A form',
    product: 'A product',
    automation: 'An automation',
    custom_field: 'A custom field',
    smart_list: 'A saved list',
  },
  'What can be found by its name',
);

@Input('A record by its name')
export class NameInput {
  @OneOf(ResolvableType, 'What it is', { required: true }) type: keyof typeof ResolvableType;
  @Text(200, 'Its name, or its e-mail address; upper and lower case are the same', { required: true }) name: string;
  @Text(200, 'The name or the id of what it belongs to: the pipeline of a stage') parent?: string | null;
}

@Input('Names to find the ids of')
export class ResolveInput {
  @Nested(
    () => NameInput,
    () => NameInput,
    'Up to 100 names',
    { list: mostNames, required: true },
  )
  items: NameInput[];
}

@Entity('A record that a name may mean')
export class NameCandidate {
  @Ref('Its id', { required: true }) @RestName('id') recordId: string;
  @Text(200, 'Its name', { required: true }) name: string;
}

/** Decisions, "automations/resolve". */
@Entity('What a name means')
export class ResolvedName {
  @OneOf(ResolvableType, 'What it is, as it was asked for', { required: true }) type: keyof typeof ResolvableType;
  @Text(200, 'The name, as it was asked for', { required: true }) name: string;
  @Ref('The id of the one record of that name; null where there is none, or there are several') @RestName('id') recordId: string | null;
  @Nested(
    () => NameCandidate,
    () => NameCandidate,
    'Those of the name, or else whose names contain it: at most 10',
    { list: 10, required: true },
  )
  candidates: NameCandidate[];
}
