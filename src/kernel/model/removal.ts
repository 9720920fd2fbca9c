import { Field, ID, InterfaceType } from 'type-graphql';
import { Entity, Flag, Ref } from './fields.js';
import { RestName } from './recordMarks.js';

/** What answers of deletions and archivings have in common, whatever else they say: by it a cache finds what it is to forget. */
@InterfaceType({ description: 'What deleting or archiving a record answers' })
export abstract class Removal {
  @Field(() => ID, { description: 'The id of the record that is gone from its list' }) recordId: string;
  @Field({ description: 'Its type in this schema, as __typename of the record has it' }) recordType: string;
}

@Entity('What a deletion answers', { implements: Removal })
export class Deleted extends Removal {
  @Ref('The id of what was deleted', { required: true }) @RestName('id') deletedId: string;
  @Flag('Always true', { required: true }) deleted: boolean;
}

export const deleted = (type: string, id: string): Deleted => ({ deletedId: id, deleted: true, recordId: id, recordType: type });

@Entity('What archiving answers', { implements: Removal })
export class Archived extends Removal {
  @Ref('The id of what was archived', { required: true }) @RestName('id') archivedId: string;
  @Flag('Always true', { required: true }) archived: boolean;
}

export const archived = (type: string, id: string): Archived => ({ archivedId: id, archived: true, recordId: id, recordType: type });
