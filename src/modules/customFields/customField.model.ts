import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { text } from '../../kernel/model/checks.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Edit,
  Entity,
  Flag,
  Fraction,
  field,
  Id,
  Input,
  JsonObject,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { RestName } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';

export const CustomFieldEntity = oneOf(
  'CustomFieldEntity',
  { contact: 'Contacts', deal: 'Deals', company: 'Companies' },
  'The records that carry a custom field',
);
export const CustomFieldType = oneOf(
  'CustomFieldType',
  {
    text: 'A text',
    textarea: 'A text of several lines',
    number: 'A number',
    date: 'A day',
    datetime: 'A moment, with an offset',
    url: 'An http(s) address',
    select: 'One of its options',
    radio: 'One of its options, all of which are shown',
    multiselect: 'Several of its options',
    boolean: 'True or false',
    phone: 'A phone number',
    email: 'An e-mail address',
  },
  'What the values of a custom field are',
);

const longestKey = 64;
const keyGrammar = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** The name of a member of `customFields`. */
const FieldKey = (description: string) =>
  field(
    description,
    { required: true },
    {
      type: () => String,
      check: (value, at, report, scope) => {
        const key = text(longestKey)(value, at, report, scope) as string | null;
        if (key !== null && !keyGrammar.test(key)) report(at, 'invalid_format', 'must be a letter, then letters, digits, _ and -');
        return key;
      },
      schema: { maxLength: longestKey, pattern: keyGrammar.source },
    },
  );

/** Contract "Custom field definition": one line a field. */
@ObjectType()
export class CustomFieldFields {
  @OneOf(CustomFieldEntity, 'The records that carry it', { required: true }) entityType: keyof typeof CustomFieldEntity;
  @FieldKey('Its key in customFields: a letter, then letters, digits, _ and -') fieldKey: string;
  @Text(200, 'What people call it', { required: true }) label: string;
  @OneOf(CustomFieldType, 'What its values are', { required: true }) fieldType: keyof typeof CustomFieldType;
  @Text(120, 'The section of a form that it stands in') section: string | null;
  @JsonObject(64, 'choices (select, radio, multiselect); numberFormat, currencyCode (number); allowedDomains, blockedDomains (url, email)')
  options: object | null;
  @Flag('Whether records must have a value; false by default', { optional: true }) isRequired: boolean;
  @Fraction('Where it stands among the others; 0 by default', { optional: true, min: 0, max: 100_000 }) sortOrder: number;
}

@Entity('A field that a workspace adds to its records', { scope: 'custom-fields' })
export class CustomField extends CustomFieldFields {
  @Id() id: string;
  @Stamp('When the field was made') createdAt: Date;
  @Stamp('When the field was last changed') updatedAt: Date;
}

@Input('A new custom field')
export class CreateCustomFieldInput extends New(CustomFieldFields) {}

@Input('Changes to a custom field; key, type and records only while there is no data')
export class UpdateCustomFieldInput extends Edit(CreateCustomFieldInput) {}

/** Contract DELETE /custom-fields/{id}: what the caller has seen of the impact. */
@Input('That the caller knows what goes with a custom field')
export class ConfirmImpactInput {
  @Flag('Delete in spite of the impact') confirmImpact?: boolean | null;
  @Count('How many values there are to the knowledge of the caller', { min: 0 }) expectedValueCount?: number | null;
  @Count('How many things refer to the field to the knowledge of the caller', { min: 0 }) expectedDependencyCount?: number | null;
}

export const CustomFieldReferrer = oneOf(
  'CustomFieldReferrer',
  {
    smart_list: 'A saved list',
    form: 'A form',
    workflow: 'A workflow',
    automation: 'An automation',
    template: 'A template',
    sequence: 'A sequence of e-mails',
    import: 'An import that is not completed',
  },
  'What may refer to a custom field',
);

@Entity('Something that refers to a custom field')
export class CustomFieldDependency {
  @OneOf(CustomFieldReferrer, 'What it is', { required: true }) type: keyof typeof CustomFieldReferrer;
  @Ref('Its id', { required: true }) @RestName('id') recordId: string;
  @Text(500, 'Its name', { required: true }) name: string;
}

@Entity('What refers to a custom field')
export class DependencySummary {
  @Count('How many things refer to it', { required: true }) dependencyCount: number;
  @Nested(
    () => CustomFieldDependency,
    () => CustomFieldDependency,
    'The things, at most 100',
    { list: 100, required: true },
  )
  dependencies: CustomFieldDependency[];
}

@Entity('What the deletion of a custom field answers')
export class DeletedCustomField extends Deleted {
  @Ref('The cleanup that removes its values; null where there are none') cleanupJobId: string | null;
  @Count('How many values the cleanup removes', { required: true }) valuesQueuedForCleanup: number;
  @Nested(
    () => DependencySummary,
    () => DependencySummary,
    'What referred to it',
    { required: true },
  )
  dependencySummary: DependencySummary;
}

export const CleanupStatus = oneOf(
  'CustomFieldCleanupStatus',
  {
    queued: 'It has not begun',
    running: 'It is under way',
    completed: 'All values are removed',
    failed: 'It ended before all values were removed',
  },
  'How far a cleanup is',
);

@Entity('The removal of the values that a deleted custom field left', { scope: 'custom-fields' })
export class CustomFieldCleanup {
  @Id() id: string;
  @OneOf(CustomFieldEntity, 'The records that carried the field', { required: true }) entityType: keyof typeof CustomFieldEntity;
  @Text(64, 'The key of the field', { required: true }) fieldKey: string;
  @OneOf(CleanupStatus, 'How far it is', { required: true }) status: keyof typeof CleanupStatus;
  @Count('How many values there were', { required: true }) valueCount: number;
  @Count('How many are removed', { required: true }) cleanedCount: number;
  @Text(500, 'Why it failed') error: string | null;
  @Stamp('When it ended', {}) completedAt: Date | null;
  @Stamp('When the field was deleted') createdAt: Date;
  @Stamp('When the cleanup last went on') updatedAt: Date;
}

/** Contract GET /custom-fields. */
@Input('Which custom fields')
export class CustomFieldFilter {
  @OneOf(CustomFieldEntity, 'The records that carry them') entityType?: keyof typeof CustomFieldEntity | null;
}

export const CustomFieldSort = oneOf(
  'CustomFieldSort',
  ['sortOrder', 'label', 'createdAt'],
  'Sort keys of custom fields; sortOrder goes by the records that carry them first',
);

@ArgsType()
export class CustomFieldList extends ListArgsOf(CustomFieldFilter, CustomFieldSort) {}

@ObjectType({ description: 'A page of custom fields' })
export class CustomFieldConnection extends ConnectionOf(CustomField) {}

/** What is told of custom fields. */
export const customFieldEvents = eventsOf('custom_field', 'CustomField', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    customField: typeof customFieldEvents;
  }
}
