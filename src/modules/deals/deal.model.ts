import { ArgsType, Field, ObjectType } from 'type-graphql';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Currency,
  Day,
  Deadline,
  Draft,
  Edit,
  Entity,
  Flag,
  Id,
  Input,
  JsonObject,
  Moment,
  Money,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Refs,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { DealStatus } from '../contacts/contact.model.js';

export { DealStatus };

/** Contract "Deal", products. A line amounts to quantity × unitPrice − discount + tax, rounded half up to two places. */
@Entity('A line of a deal')
export class DealProduct {
  @Ref('Its id within the deal; made where none is given', { optional: true, graphName: 'lineId' }) id: string;
  @Text(200, 'The name', { required: true }) name: string;
  @Text(2000, 'What it is') description: string | null;
  @Money('How many; 1 by default', { optional: true, scale: 4, min: 0 }) quantity: string;
  @Money('What one costs', { required: true }) unitPrice: string;
  @Money('What is taken off the line, an amount') discount: string | null;
  @Money('What is added to the line as tax, an amount') tax: string | null;
  @Money('Its position among the lines; as they come by default', { optional: true, scale: 4, min: 0, max: 10_000_000 }) sortOrder: string;
}

@Input('A line of a deal')
export class DealProductInput extends Draft(DealProduct) {}

/** Contract "Deal": one line a field. */
@ObjectType()
export class DealFields {
  @Text(200, 'The title', { required: true }) title: string;
  @Ref('The pipeline', { required: true }) pipelineId: string;
  @Ref('The stage, one of the pipeline', { required: true }) stageId: string;
  @Ref('Whom the deal is with') contactId: string | null;
  @Ref('The company that the deal is with') companyId: string | null;
  @Money('The amount, in the currency and not in its minor units; the sum over the products by default') value: string | null;
  @Currency('ISO 4217 code; USD by default', { optional: true }) currency: string;
  @OneOf(DealStatus, 'Where it stands; open by default, or what a closing stage says of deals made in it', { optional: true })
  status: keyof typeof DealStatus;
  @Text(30, 'Priority') priority: string | null;
  @Text(500, 'Lead source of this deal') source: string | null;
  @Text(500, 'Why it was lost; where the stage or the workspace lists reasons, one of them') lostReason: string | null;
  @Money('How likely it is won, 0 to 1; as the stage says by default', { scale: 4, rounded: true, min: 0, max: 1 }) probability:
    | string
    | null;
  @Day('The day on which it should be closed') expectedCloseDate: string | null;
  @Deadline('When there is an appointment about it: a date-time with an offset, or YYYY-MM-DD for the end of that day in the workspace')
  appointmentAt: Date | null;
  @Ref('The user who looks after the deal') assignedTo: string | null;
  @JsonObject(64, 'Values of custom fields by key', { optional: true }) customFields: object;
  @Nested(
    () => DealProduct,
    () => DealProductInput,
    'What is sold; they replace the lines of before',
    { list: 50, optional: true },
  )
  products: DealProduct[];
}

@Entity('Something that may be sold to somebody', { scope: 'deals' })
export class Deal extends DealFields {
  @Id() id: string;
  @Flag('Whether the appointment and an hour of grace have passed without the deal being closed', { required: true })
  appointmentMissed: boolean;
  @Money('Where it stands in its column of the board, the least first', { required: true, scale: 15 }) position: string;
  @Stamp('When it came into its stage', {}) stageEnteredAt: Date | null;
  @Stamp('When it was won or lost', {}) closedAt: Date | null;
  @Stamp('When anything last happened around the deal', {}) lastActivityAt: Date | null;
  @Stamp('When the deal was made') createdAt: Date;
  @Stamp('When the deal was last changed') updatedAt: Date;
}

@Input('A new deal')
export class CreateDealInput extends New(DealFields) {}

@Input('Changes to a deal: absent keeps, null clears')
export class UpdateDealInput extends Edit(CreateDealInput) {
  @Ref('Puts the deal behind this one of its column; null puts it first') afterDealId?: string | null;
}

/** Where a deal is dragged to. */
@ArgsType()
export class MoveDealArgs {
  @Ref('The stage that it comes into, or stays in, of whatever pipeline', { required: true }) stageId: string;
  @Ref('Puts it behind this deal of the stage; null puts it first, and a stage that it comes into has it last by default')
  afterId?: string | null;
  @Text(500, 'Why it is lost, where it comes into a stage that asks for a reason') lostReason?: string | null;
}

export const DealView = oneOf(
  'DealView',
  { board: 'Column by column, each in the order of its cards', list: 'Newest first' },
  'board goes column by column',
);

/** Contract GET /deals; what its names mean that the contract leaves open is said here. */
@Input('Which deals')
export class DealFilter {
  @Text(200, 'Part of the title, of the contact’s name or of the company’s from three characters on, the start of a word for one or two')
  search?: string | null;
  @Ref('In this pipeline') pipelineId?: string | null;
  @Text(200, 'In a pipeline of this name, whatever its case') pipelineName?: string | null;
  @Ref('In this stage') stageId?: string | null;
  @Text(200, 'In a stage of this name, whatever its case') stageName?: string | null;
  @OneOf(DealStatus, 'Where they stand') status?: keyof typeof DealStatus | null;
  @Ref('Looked after by this user') assignedTo?: string | null;
  @Ref('With this contact') contactId?: string | null;
  @Ref('With this company') companyId?: string | null;
  @Moment('Made at or after') createdAfter?: string | null;
  @Moment('Made at or before') createdBefore?: string | null;
  @Money('Worth at least') minValue?: string | null;
  @Money('Worth at most') maxValue?: string | null;
  @Flag('Open, and without a task that is still due, behind their closing day, or with a missed appointment; or not so')
  needsAction?: boolean | null;
  @Text(10, 'Open and untouched: true for 14 days, a number for so many') stale?: string | null;
  @Refs(100, 'With a contact that carries any of these tags') tagIds?: string[] | null;
  @OneOf(DealView, 'How they are looked at: a board comes column by column unless sorted') view?: keyof typeof DealView | null;
  @Ref('Saved filter') viewId?: string | null;
  @JsonObject(16, 'A condition {and, or, not, field, op, value}') filters?: Record<string, unknown> | null;
}

export const DealSort = oneOf(
  'DealSort',
  ['createdAt', 'updatedAt', 'title', 'value', 'expectedCloseDate', 'probability'],
  'Sort keys of deals',
);

@ArgsType()
export class DealList extends ListArgsOf(DealFilter, DealSort) {}

@Entity('The deals of one stage in a list')
export class StageSummary {
  @Ref('The stage', { required: true }) stageId: string;
  @Text(200, 'Its name', { required: true }) name: string;
  @Count('How many there are', { required: true }) count: number;
  @Money('The sum of their values', { required: true }) totalValue: string;
  @Text(3, 'The currency of all of these values; null where there are several') currency: string | null;
}

@Entity('All deals that a list finds, whatever its page and their currency')
export class DealSummary {
  @Count('How many there are', { required: true }) count: number;
  @Money('The sum of their values', { required: true }) totalValue: string;
  @Nested(
    () => StageSummary,
    () => StageSummary,
    'Stage by stage, those without a deal left out',
    { list: 1000, required: true },
  )
  byStage: StageSummary[];
}

@ObjectType({ description: 'A page of deals' })
export class DealConnection extends ConnectionOf(Deal) {
  @Field(() => DealSummary, { description: 'All deals that the list finds, in numbers' }) summary: DealSummary;
}
