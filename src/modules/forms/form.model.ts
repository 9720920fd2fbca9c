import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { text } from '../../kernel/model/checks.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  field,
  Id,
  Input,
  JsonObject,
  Nested,
  OneOf,
  oneOf,
  Stamp,
  Text,
  Texts,
  Url,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

/** The most fields of one form. */
export const mostFields = 100;

export const FormFieldType = oneOf(
  'FormFieldType',
  {
    text: 'A line of text',
    email: 'An e-mail address',
    phone: 'A phone number',
    textarea: 'A text of several lines',
    select: 'One of its options',
    number: 'A number',
  },
  'What a field of a form takes',
);

const words = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** A short name for addresses, in lower case: words of letters and digits with hyphens between them. */
const Slug = (description: string) =>
  field(
    description,
    {},
    {
      type: () => String,
      check: (value, at, report, scope) => {
        const slug = text(100)(String(value).toLowerCase(), at, report, scope) as string | null;
        if (slug !== null && !words.test(slug)) report(at, 'invalid_format', 'must be letters and digits with hyphens between them');
        return slug;
      },
      schema: { maxLength: 100, pattern: '^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$' },
    },
  );

/** Contract "Form": a field that is filled in. */
@ObjectType({ description: 'A field that is filled in' })
export class FormField {
  @Text(100, 'The key of its value in the data of a submission', { required: true }) key: string;
  @Text(200, 'What is shown beside it; the key by default', { optional: true }) label: string;
  @OneOf(FormFieldType, 'What it takes; text by default', { optional: true }) type: keyof typeof FormFieldType;
  @Flag('Whether it must be filled in; false by default', { optional: true }) required: boolean;
  @Texts(200, 200, 'What a select offers, at least one') options: string[] | null;
}

@Input('A field of a form')
export class FormFieldInput extends Draft(FormField) {}

/** Contract "Form": one line a field. */
@ObjectType()
export class FormFields {
  @Text(200, 'The name, which its page shows to everybody as its title', { required: true }) name: string;
  @Text(5000, 'What it is for; its page shows it to everybody') description: string | null;
  @Text(200, 'The tag of the form in an ad tracker') hyrosTag: string | null;
  @Slug('A short name, in lower case; no two forms of the workspace that are not archived have the same') slug: string | null;
  @Nested(
    () => FormField,
    () => FormFieldInput,
    'What is asked for, in the order in which it is shown',
    { list: mostFields, optional: true },
  )
  fields: FormField[];
  @Url(2000, 'Where a browser is sent after a submission; it should not redirect to another origin') redirectUrl: string | null;
  @Text(2000, 'What is shown after a submission where there is no redirectUrl') thankYouMessage: string | null;
  @JsonObject(
    64,
    '`tags`: names of tags that the contact of a submission gets; `consent` {required, text}: what must be agreed to. The rest is only kept',
    { optional: true },
  )
  settings: Record<string, unknown>;
  @Flag('Whether it can be submitted; true by default', { optional: true }) isActive: boolean;
}

@Entity('A form whose submissions become contacts', { scope: 'forms' })
export class Form extends FormFields {
  @Id() id: string;
  @Count('How often it was submitted', { required: true }) submissionCount: number;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
  @Stamp('When it was archived; null while it is in use', {}) archivedAt: Date | null;
}

@Input('A new form')
export class CreateFormInput extends New(FormFields) {}

@Input('Changes to a form: absent keeps, null clears; fields and settings are replaced')
export class UpdateFormInput extends Edit(CreateFormInput) {}

/** Contract GET /forms. */
@Input('Which forms')
export class FormFilter {
  @Text(200, 'Name or slug: part of it from three characters on, the start of a word for one or two') search?: string | null;
  @Flag('Only forms that can be submitted, or only those that cannot') isActive?: boolean | null;
  @Flag('Whether archived forms are listed too; false by default') includeArchived?: boolean | null;
}

export const FormSort = oneOf('FormSort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of forms');

@ArgsType()
export class FormList extends ListArgsOf(FormFilter, FormSort) {}

@ObjectType({ description: 'A page of forms' })
export class FormConnection extends ConnectionOf(Form) {}

/** What is told of forms: an archived one can be submitted no more, and so is deleted. */
export const formEvents = eventsOf('form', 'Form', [...everyChange, 'archived']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    form: typeof formEvents;
  }
}
