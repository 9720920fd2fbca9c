import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  Fraction,
  Id,
  Input,
  LongText,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { longestSubject } from '../templates/template.model.js';

export const SequenceStatus = oneOf(
  'SequenceStatus',
  { active: 'It sends, and takes contacts', inactive: 'Its enrollments are held, and nobody can be enrolled' },
  'Whether a sequence sends and takes contacts',
);

/** The most steps of a sequence. */
export const mostSteps = 50;

/** Contract "Email sequence and enrollment", steps. */
@ObjectType()
export class SequenceStepFields {
  @Ref('The template of e-mails that it sends; without one it has a subject and a body of its own') templateId: string | null;
  @Count('Days after the enrollment, at its local time in workspace time; at most ten years', { required: true, min: 0, max: 3650 })
  delayDays: number;
  @Text(longestSubject, "Instead of the template's subject, with merge fields") subject: string | null;
  @LongText(100, "Instead of the template's text, at most 100 KB, with merge fields") body: string | null;
}

@Entity('One e-mail of a sequence', { scope: 'emails' })
export class SequenceStep extends SequenceStepFields {
  @Id() id: string;
  @Count('Its place, from 1', { required: true }) order: number;
}

@Input('One e-mail of a sequence')
export class SequenceStepInput extends Draft(SequenceStepFields) {}

/** Contract "Email sequence": one line a field that a caller writes. */
@ObjectType()
export class SequenceFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Text(5000, 'What it is for') description: string | null;
  @Nested(
    () => SequenceStep,
    () => SequenceStepInput,
    'Its e-mails in their order, at least one; who is enrolled goes on with those of the time of the enrollment',
    { required: true, list: mostSteps, min: 1 },
  )
  steps: SequenceStepFields[];
  @Flag('Whether it sends and takes contacts; true by default. What is left of its enrollments is later by the time that it was inactive', {
    optional: true,
  })
  isActive: boolean;
  @Flag('Whether an e-mail that cannot be delivered ends an enrollment; true by default', { optional: true }) autoUnenrollOnBounce: boolean;
  @Flag('Whether an appointment with the contact ends an enrollment; false by default', { optional: true }) autoUnenrollOnMeeting: boolean;
  @Flag('Whether an answer of the contact, on any channel, ends an enrollment; true by default', { optional: true })
  autoUnenrollOnReply: boolean;
  @Flag('Whether it ends an enrollment that the contact opts out of e-mail; true by default', { optional: true })
  autoUnenrollOnUnsubscribe: boolean;
}

@Entity('E-mails that follow one another to each contact who is enrolled', { scope: 'emails' })
export class Sequence extends SequenceFields {
  @Id() id: string;
  @OneOf(SequenceStatus, 'The same as isActive, in a word', { required: true }) status: keyof typeof SequenceStatus;
  @Count('The version of its steps: each change of them makes a new one', { required: true }) version: number;
  @Count('How many enrollments it had', { required: true }) enrolledCount: number;
  @Count('How many of them came to the end', { required: true }) completedCount: number;
  @Count('How many of them are under way', { required: true }) activeCount: number;
  @Ref('The user who made it') createdBy: string | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
  declare steps: SequenceStep[];
}

@Input('A new sequence')
export class CreateSequenceInput extends New(Draft(SequenceFields)) {}

@Input('Changes to a sequence: absent keeps, null clears; steps replace all steps, for enrollments to come')
export class UpdateSequenceInput extends Edit(CreateSequenceInput) {}

/** Decisions, "sequence stats". */
@Entity('How a sequence does')
export class SequenceStats {
  @Count('Enrollments in all', { required: true }) enrolled: number;
  @Count('Enrollments under way', { required: true }) active: number;
  @Count('Enrollments that came to the end', { required: true }) completed: number;
  @Count('E-mails that were sent', { required: true }) sent: number;
  @Count('Sent e-mails that were opened', { required: true }) opened: number;
  @Count('Sent e-mails of which a link was followed', { required: true }) clicked: number;
  @Count('Enrollments that the contact answered', { required: true }) replied: number;
  @Count('E-mails that could not be delivered', { required: true }) bounced: number;
  @Count(
    'Enrollments that ended because the contact opted out, or with an e-mail by which the contact unsubscribed or of which they complained',
    {
      required: true,
    },
  )
  unsubscribed: number;
  @Fraction('Of those sent the share that was opened, 0 to 1; 0 of none', { required: true }) openRate: number;
  @Fraction('Of those sent the share of which a link was followed, 0 to 1; 0 of none', { required: true }) clickRate: number;
}

/** Contract GET /emails/sequences. */
@Input('Which sequences')
export class SequenceFilter {
  @Text(200, 'Part of the name') search?: string | null;
  @Flag('Only active ones, or only inactive ones') isActive?: boolean | null;
}

export const SequenceSort = oneOf('SequenceSort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of sequences');

@ArgsType()
export class SequenceList extends ListArgsOf(SequenceFilter, SequenceSort) {}

@ObjectType({ description: 'A page of sequences' })
export class SequenceConnection extends ConnectionOf(Sequence) {}

/** What is told of sequences. */
export const sequenceEvents = eventsOf('sequence', 'Sequence', ['created', 'updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    sequence: typeof sequenceEvents;
  }
}
