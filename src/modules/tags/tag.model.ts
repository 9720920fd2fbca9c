import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Color, Count, Edit, Entity, Id, Input, oneOf, Ref, Refs, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

/** Contract "Tag". */
@ObjectType()
export class TagFields {
  @Text(100, 'The name, unique in the workspace without regard to case', { required: true }) name: string;
  @Color('A hex colour; #6B7280 by default', { optional: true }) color: string;
}

@Entity('A label that contacts carry', { scope: 'tags' })
export class Tag extends TagFields {
  @Id() id: string;
  @Stamp('When the tag was made') createdAt: Date;
  @Stamp('When the tag was last changed') updatedAt: Date;
}

@Entity('How often a tag is used')
export class TagCount {
  @Count('Live contacts that carry the tag', { required: true }) contacts: number;
}

@Input('A new tag')
export class CreateTagInput extends New(TagFields) {}

@Input('Changes to a tag')
export class UpdateTagInput extends Edit(CreateTagInput) {}

@Input('Two tags to make one')
export class MergeTagsInput {
  @Ref('The tag that is deleted', { required: true }) sourceId: string;
  @Ref('The tag that is kept', { required: true }) targetId: string;
}

/** POST /contacts/{id}/tags: a list, or the single form that the contract also shows. */
@Input('Tags to put on a contact')
export class AddTagsInput {
  @Refs(100, 'Ids of existing tags', { min: 1 }) tagIds?: string[] | null;
  @Ref('The id of one existing tag') tagId?: string | null;
}

@Input('Which tags')
export class TagFilter {
  @Text(200, 'Part of the name') search?: string | null;
}

export const TagSort = oneOf('TagSort', ['name', 'createdAt', 'updatedAt'], 'Sort keys of tags');

@ArgsType()
export class TagList extends ListArgsOf(TagFilter, TagSort) {}

@ObjectType({ description: 'A page of tags' })
export class TagConnection extends ConnectionOf(Tag) {}

/** What is told of tags. */
export const tagEvents = eventsOf('tag', 'Tag', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    tag: typeof tagEvents;
  }
}
