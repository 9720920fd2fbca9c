import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Edit, Email, Entity, Flag, Id, Input, LongText, OneOf, oneOf, Ref, Stamp, Text, Texts } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { RestName } from '../../kernel/model/recordMarks.js';
import { Removal } from '../../kernel/model/removal.js';

export const MessageChannel = oneOf('MessageChannel', { sms: 'As a text message', email: 'As an e-mail' }, 'How a message goes');

/** The most characters of a subject (contract "Limits"). */
export const longestSubject = 500;

/** Contract "Email template": one line a field. */
@ObjectType()
export class TemplateFields {
  @Text(200, 'The name', { required: true }) name: string;
  @OneOf(MessageChannel, 'What it is for', { required: true }) channel: keyof typeof MessageChannel;
  @LongText(100, 'The text, at most 100 KB, with merge fields such as {{contact.firstName}}', { required: true }) body: string;
  @LongText(500, 'The same as HTML, at most 500 KB; the values of its merge fields are escaped') bodyHtml: string | null;
  @Text(longestSubject, 'The subject of an e-mail, with merge fields') subject: string | null;
  @Text(100, 'A category of your own') category: string | null;
  @Text(50, 'The provider that it is written for') provider: string | null;
  @Flag('Whether it is offered; true by default', { optional: true }) isActive: boolean;
}

@Entity('A text to be sent to many, each with their own values', { scope: 'emails' })
export class Template extends TemplateFields {
  @Id() id: string;
  @Texts(500, 200, 'The merge fields that it uses, as dotted paths: contact.firstName for {{firstName}}', { required: true })
  mergeFields: string[];
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A new template')
export class CreateTemplateInput extends New(TemplateFields) {}

@Input('Changes to a template: absent keeps, null clears')
export class UpdateTemplateInput extends Edit(CreateTemplateInput) {}

@Input('A template to be tried')
export class TestSendInput {
  @Ref('The template', { required: true }) templateId: string;
  @Email('Where the mail goes', { required: true }) toEmail: string;
}

@Entity('What a test mail became')
export class TestSend {
  @Flag('Always true: the mail server took it', { required: true }) sent: boolean;
  @Email('Where it went', { required: true }) toEmail: string;
  @Text(1000, 'The subject, with the values of an example', { required: true }) subject: string;
}

@Entity('What archiving a template answers', { implements: Removal })
export class ArchivedTemplate extends Removal {
  @Ref('The id of what was archived', { required: true }) @RestName('id') deletedId: string;
  @Flag('Always true', { required: true }) deleted: boolean;
  @Flag('Always true: messages that were made of it go on naming it', { required: true }) archived: boolean;
}

/** Contract GET /emails/templates. */
@Input('Which templates')
export class TemplateFilter {
  @Text(100, 'Category') category?: string | null;
  @OneOf(MessageChannel, 'Channel') channel?: keyof typeof MessageChannel | null;
  @Flag('Only active ones, or only inactive ones') isActive?: boolean | null;
  @Text(50, 'Provider') provider?: string | null;
}

export const TemplateSort = oneOf('TemplateSort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of templates');

@ArgsType()
export class TemplateList extends ListArgsOf(TemplateFilter, TemplateSort) {}

@ObjectType({ description: 'A page of templates' })
export class TemplateConnection extends ConnectionOf(Template) {}

/** What is told of templates: an archived one is deleted. */
export const templateEvents = eventsOf('template', 'Template', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    template: typeof templateEvents;
  }
}
