import { Field, ObjectType } from 'type-graphql';
import { type ErrorCode, statusOf } from '../../kernel/base/errors.js';
import { Rows, Target, Targets } from '../../kernel/model/bulkFields.js';
import { Count, Edit, EditOf, Entity, Flag, Input, JsonObject, Nested, OneOf, oneOf, Ref, Text } from '../../kernel/model/fields.js';
import { MaxItems, RestName } from '../../kernel/model/recordMarks.js';
import { Contact, UpdateContactInput } from '../contacts/contact.model.js';
import { CreateDealInput } from '../deals/deal.model.js';

/** Contract "Limits", bulk sizes. */
export const sizes = { each: 100, edit: 500 };

export const ErrorCodes = oneOf('ErrorCode', Object.keys(statusOf) as ErrorCode[], 'What went wrong, as `code` of an error has it');

@Entity('How many of the records were done')
export class BulkCounts {
  @Count('How many were asked for; an id that is given twice counts once', { required: true }) total: number;
  @Count('How many are now as they were to be', { required: true }) succeeded: number;
  @Count('How many are as they were', { required: true }) failed: number;
}

@Entity('What came of one record')
export class BulkResult {
  /** The type of the record, for who asks for it. */
  recordType: string;
  @Text(200, 'The id of the record, as it was given', { required: true }) @RestName('id') recordId: string;
  @Flag('Whether it is now as it was to be', { required: true }) success: boolean;
  @Text(2000, 'Why it is not') error: string | null;
  @OneOf(ErrorCodes, 'The code that the error would have alone') code: ErrorCode | null;
  @Text(200, 'The field that is to blame') field: string | null;
}

@Entity('What came of each record')
export class BulkResults {
  @Nested(
    () => BulkCounts,
    () => BulkCounts,
    'All of them in numbers',
    { required: true },
  )
  summary: BulkCounts;
  @Nested(
    () => BulkResult,
    () => BulkResult,
    'One by one, in the order of the request',
    { list: sizes.each, required: true },
  )
  results: BulkResult[];
}

/** The counts are the contract's reply; what came of each record is there for who asks. */
@ObjectType({ description: 'What came of many records' })
export class BulkOutcome extends BulkCounts {
  @Field(() => [BulkResult], { description: 'What came of each record' })
  @MaxItems(sizes.edit)
  results: BulkResult[];
}

@Input('Changes to one contact: absent keeps, null clears')
export class BulkContactUpdate extends EditOf(
  Contact,
  ...(['firstName', 'lastName', 'email', 'phone', 'company', 'jobTitle', 'source', 'customFields', 'assignedTo'] as const),
  ...(['optedOutSms', 'optedOutEmail'] as const),
) {
  @Target('The contact') id: string;
}

@Input('Contacts and what is to change of each')
export class BulkUpdateContactsInput {
  @Rows(() => BulkContactUpdate, sizes.each, 'The contacts, each with its changes') updates: BulkContactUpdate[];
}

@Input('Which records: these, or those that a filter finds')
export class BulkChosen {
  @Targets(sizes.edit, 'The records; these or filters', {}) ids?: string[] | null;
  @JsonObject(16, 'Which records, as a condition {and, or, not, field, op, value}; more than 500 of them are 422')
  filters?: Record<string, unknown> | null;
}

@Input('One change for many contacts')
export class BulkEditContactsInput extends BulkChosen {
  @Nested(
    () => UpdateContactInput,
    () => UpdateContactInput,
    'What changes: absent keeps, null clears',
    { required: true },
  )
  changes: UpdateContactInput;
}

@Input('Contacts to delete')
export class BulkDeleteContactsInput {
  @Targets(sizes.each, 'The contacts') ids: string[];
}

@Input('Contacts and a tag')
export class BulkTagContactsInput {
  @Targets(sizes.each, 'The contacts') contactIds: string[];
  @Ref('An existing tag', { required: true }) tagId: string;
}

@Input('Contacts, and whether they may be contacted')
export class BulkDoNotContactInput {
  @Targets(sizes.each, 'The contacts') contactIds: string[];
  @Flag('Whether they must not be contacted', { required: true }) doNotContact: boolean;
  @Text(500, 'Why they must not be contacted; absent keeps, and where they may be contacted again there is none') reason?: string | null;
}

@Input('Changes to one deal: absent keeps, null clears')
export class BulkDealUpdate extends Edit(CreateDealInput) {
  @Target('The deal') id: string;
}

@Input('Deals and what is to change of each')
export class BulkUpdateDealsInput {
  @Rows(() => BulkDealUpdate, sizes.each, 'The deals, each with its changes') updates: BulkDealUpdate[];
}

@Input('Changes to many deals: absent keeps, null clears')
export class BulkDealChanges extends Edit(CreateDealInput) {}

@Input('One change for many deals')
export class BulkEditDealsInput extends BulkChosen {
  @Nested(
    () => BulkDealChanges,
    () => BulkDealChanges,
    'What changes: absent keeps, null clears',
    { required: true },
  )
  changes: BulkDealChanges;
}
