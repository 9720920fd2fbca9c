import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf, SortOrder } from '../../kernel/model/connection.js';
import { Edit, Entity, Flag, Id, Input, JsonObject, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

export const SmartListEntity = oneOf('SmartListEntity', { contact: 'Contacts', deal: 'Deals' }, 'The records that a smart list is about');

/** A filter that is kept under a name: what the contract's `smartListId` and `view_id` refer to. */
@ObjectType()
export class SmartListFields {
  @Text(100, 'The name', { required: true }) name: string;
  @JsonObject(16, 'A condition {and, or, not, field, op, value}, as the `filters` of the list of these records', { required: true })
  filters: object;
  @Text(50, "The sort key of its records, one of their list's; as the list is by default") sort: string | null;
  @OneOf(SortOrder, 'The direction of the sort') order: keyof typeof SortOrder | null;
  @Flag('Whether everybody in the workspace sees it, or only its owner; true by default', { optional: true }) shared: boolean;
}

@Entity('A filter that is kept under a name')
export class SmartList extends SmartListFields {
  @Id() id: string;
  @OneOf(SmartListEntity, 'The records that it is about', { required: true }) entity: keyof typeof SmartListEntity;
  @Ref('Who made it') ownerId: string | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A new smart list')
export class CreateSmartListInput extends New(SmartListFields) {
  @OneOf(SmartListEntity, 'The records that it is about; contact by default') entity?: keyof typeof SmartListEntity | null;
}

@Input('Changes to a smart list: absent keeps, null clears. What it is about stays')
export class UpdateSmartListInput extends Edit(SmartListFields) {}

@Input('Which smart lists')
export class SmartListFilter {
  @OneOf(SmartListEntity, 'About these records') entity?: keyof typeof SmartListEntity | null;
  @Text(100, 'Part of the name') search?: string | null;
  @Ref('Made by this user') ownerId?: string | null;
}

export const SmartListSort = oneOf('SmartListSort', ['name', 'createdAt', 'updatedAt'], 'Sort keys of smart lists');

@ArgsType()
export class SmartListList extends ListArgsOf(SmartListFilter, SmartListSort) {}

@ObjectType({ description: 'A page of smart lists' })
export class SmartListConnection extends ConnectionOf(SmartList) {}

/** What is told of smart lists. */
export const smartListEvents = eventsOf('smart_list', 'SmartList', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    smartList: typeof smartListEvents;
  }
}
