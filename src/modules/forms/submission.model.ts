import { ArgsType, ObjectType } from 'type-graphql';
import type { RecordEvents } from '../../kernel/events/recordEvents.js';
import { any } from '../../kernel/model/checks.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Entity, field, Id, Input, JsonObject, Moment, Nested, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { jsonFault } from '../../kernel/model/jsonFault.js';
import { RestName } from '../../kernel/model/recordMarks.js';
import { Json } from '../../kernel/model/scalars.js';
import { AttributionInput } from '../contacts/contact.model.js';

/** Whether somebody agreed: true, or an object one of whose members is true. */
const Agreement = (description: string) =>
  field(
    description,
    {},
    {
      type: () => Json,
      check: (value, at, report) => {
        const fault = jsonFault(value) ?? (JSON.stringify(value).length > 4096 ? tooMuch : undefined);
        if (fault) report(at, fault.code, fault.message);
        return value;
      },
    },
  );

/** What nobody fills in who sees the page: it takes anything at all. */
const Trap = (description: string) => field(description, {}, { type: () => Json, check: any });

const tooMuch = { code: 'too_long', message: 'must be at most 4096 characters of JSON' } as const;

/** Contract "Submission". */
@Entity('What somebody filled in', { scope: 'forms' })
export class Submission {
  @Id() id: string;
  @Ref('The form', { required: true }) formId: string;
  @Ref('The contact that it made or matched; null where it named nobody, or the plan allows no more contacts') contactId: string | null;
  @JsonObject(64, 'What was filled in, by the keys of the fields', { required: true }) data: object;
  @Text(100, 'Lead source, as the page told it') source: string | null;
  @JsonObject(64, 'Where the visitor came from, as the page told it') attribution: object | null;
  @JsonObject(64, 'What was agreed to: {given, text, at, ip}, the wording and the address of then') consent: object | null;
  @JsonObject(8, 'The campaign, as the page told it') utm: object | null;
  @Text(64, 'The address that it came from') ip: string | null;
  @Stamp('When it came') submittedAt: Date;
}

/** Contract POST /forms/{id}/submit. */
@Input('What somebody fills in')
export class SubmitFormInput {
  @JsonObject(64, 'Values by the keys of the fields; other keys are left out', { required: true }) data: Record<string, unknown>;
  @Nested(
    () => AttributionInput,
    () => AttributionInput,
    'Where the visitor came from',
  )
  attribution?: AttributionInput | null;
  @Agreement('Whether the wording of the form was agreed to: true, or an object one of whose members is true') consent?: unknown;
  @Text(100, 'Lead source') source?: string | null;
  @JsonObject(8, 'The campaign: source, medium, campaign, content and term, with or without utm_ before them') utm?: Record<
    string,
    unknown
  > | null;
  @Trap('Hidden from people: whoever sends anything but "" is a machine, and nothing is kept') _hp_field?: unknown;
}

@Entity('What a submission answers')
export class Submitted {
  @Ref('The id of the submission', { required: true }) @RestName('id') submissionId: string;
  @Ref('The contact that it made or matched') contactId: string | null;
  @Text(2000, 'Where to go now') redirectUrl: string | null;
  @Text(2000, 'What to show where there is no redirectUrl') thankYouMessage: string | null;
}

@Input('Which submissions')
export class SubmissionFilter {
  @Ref('Of this form') formId?: string | null;
  @Ref('Of this contact') contactId?: string | null;
  @Moment('Submitted at or after') submittedFrom?: string | null;
  @Moment('Submitted at or before') submittedTo?: string | null;
}

export const SubmissionSort = oneOf('SubmissionSort', ['submittedAt'], 'Sort keys of submissions');

@ArgsType()
export class SubmissionList extends ListArgsOf(SubmissionFilter, SubmissionSort) {}

@ObjectType({ description: 'A page of submissions' })
export class SubmissionConnection extends ConnectionOf(Submission) {}

/** What is told of submissions: each is `form.submitted`, and changes only where its contact is merged into another. */
export const submissionEvents = {
  type: 'Submission',
  noun: 'submission',
  names: ['submission.created', 'submission.updated', 'form.submitted'],
} as const satisfies RecordEvents;

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    submission: RecordEvents<(typeof submissionEvents.names)[number]>;
  }
}
