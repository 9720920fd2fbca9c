import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { Targets } from '../../kernel/model/bulkFields.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Count, Entity, Id, Input, Nested, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';

export const EnrollmentStatus = oneOf(
  'EnrollmentStatus',
  {
    active: 'Its steps go when they are due, unless its sequence is inactive',
    paused: 'It is held until it is resumed',
    completed: 'All of its e-mails were sent',
    cancelled: 'It was ended before its end',
    unsubscribed: 'The contact opted out',
    failed: 'It could not go on',
  },
  'How an enrollment stands: under way, held, or ended; what has ended stays so',
);
export const EnrollmentEnd = oneOf(
  'EnrollmentEnd',
  {
    completed: 'All of its e-mails were sent',
    unenrolled: 'Somebody ended it',
    replied: 'The contact answered',
    meeting: 'The contact has an appointment',
    unsubscribed: 'The contact opted out',
    bounced: 'An e-mail came back',
    no_email: 'There is no e-mail address any more',
    do_not_contact: 'The contact must not be contacted any more',
    contact_deleted: 'The contact was deleted',
    merged: 'The contact was merged into one who is enrolled too',
    too_large: 'The next e-mail would be larger than 500 KB with the values of its merge fields',
    empty: 'Nothing would be left of the subject or the text of the next e-mail',
  },
  'Why an enrollment ended: all was sent; somebody ended it; the contact answered, has an appointment, opted out; an e-mail came back; there is no address any more, or nobody may write there; the contact was deleted, or merged into one who is enrolled too; the next mail would be larger than 500 KB with the values of its merge fields, or nothing would be left of its subject or its text',
);

/** Contract "Enrollment fields". */
@Entity('The enrollment of a contact in a sequence', { scope: 'emails' })
export class Enrollment {
  @Id() id: string;
  @Ref('The sequence', { required: true }) sequenceId: string;
  @Ref('The contact', { required: true }) contactId: string;
  @OneOf(EnrollmentStatus, 'How it stands', { required: true }) status: keyof typeof EnrollmentStatus;
  @Count('How many of its steps are done', { required: true }) currentStep: number;
  @Count('How many steps it has', { required: true }) totalSteps: number;
  @Count('The version of the steps that it follows', { required: true }) version: number;
  @Stamp('When the contact was enrolled') enrolledAt: Date;
  @Stamp('When the last step was done', {}) lastEmailSentAt: Date | null;
  @Stamp('When the next e-mail goes, unless the enrollment is held', {}) nextEmailAt: Date | null;
  @Stamp('Since when nothing is sent, as the enrollment is paused or its sequence inactive; null while it is not', {}) heldAt: Date | null;
  @Stamp('When it ended', {}) endedAt: Date | null;
  @OneOf(EnrollmentEnd, 'Why it ended') endReason: keyof typeof EnrollmentEnd | null;
  @Ref('The user who enrolled the contact') enrolledBy: string | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

/** Contract "Limits": contacts of one request. */
export const mostEnrolled = 100;

@Input('Contacts to enroll')
export class EnrollInput {
  @Targets(mostEnrolled, 'The contacts') contactIds: string[];
}

@Input('Contacts whose enrollment ends: many, or one')
export class UnenrollInput {
  @Targets(mostEnrolled, 'The contacts', {}) contactIds?: string[] | null;
  @Ref('One contact') contactId?: string | null;
}

export const EnrollOutcome = oneOf(
  'EnrollOutcome',
  { enrolled: 'It was enrolled', skipped: 'It was not enrolled; the reason says why' },
  'What became of the enrollment of one contact',
);
export const EnrollSkip = oneOf(
  'EnrollSkip',
  {
    already_enrolled: 'The contact is enrolled in the sequence, or completed an enrollment that began within the last five minutes',
    not_found: 'No contact of the workspace has this id',
    no_email: 'The contact has no e-mail address',
    opted_out: 'The contact has opted out of e-mail',
    do_not_contact: 'The contact must not be contacted',
  },
  'Why a contact is not enrolled in a sequence',
);
export const UnenrollOutcome = oneOf(
  'UnenrollOutcome',
  { unenrolled: 'Its enrollment was ended, or a mail of it taken back', skipped: 'There was nothing to end' },
  'What became of ending the enrollment of one contact',
);
export const UnenrollSkip = oneOf(
  'UnenrollSkip',
  { not_enrolled: 'The contact is not enrolled in the sequence' },
  'Why no enrollment of a contact is ended',
);

@Entity('What became of one contact')
export class EnrollDetail {
  @Text(200, 'The contact, as it was given', { required: true }) contactId: string;
  @OneOf(EnrollOutcome, 'What became of it', { required: true }) status: keyof typeof EnrollOutcome;
  @OneOf(EnrollSkip, 'Why it was skipped') reason: keyof typeof EnrollSkip | null;
  @Ref('The enrollment that was made') enrollmentId: string | null;
}

@Entity('What became of contacts who were to be enrolled')
export class EnrollResult {
  /** The sequence, for who asks for it. */
  sequenceId: string;
  @Count('How many are enrolled now', { required: true }) enrolled: number;
  @Count('How many were skipped', { required: true }) skipped: number;
  @Nested(
    () => EnrollDetail,
    () => EnrollDetail,
    'Each of them, in the order of the request',
    { list: mostEnrolled, required: true },
  )
  details: EnrollDetail[];
}

@Entity('What became of one contact')
export class UnenrollDetail {
  @Text(200, 'The contact, as it was given', { required: true }) contactId: string;
  @OneOf(UnenrollOutcome, 'What became of it', { required: true }) status: keyof typeof UnenrollOutcome;
  @OneOf(UnenrollSkip, 'Why it was skipped') reason: keyof typeof UnenrollSkip | null;
  @Ref('The enrollment that was ended, or of which a mail was taken back') enrollmentId: string | null;
}

@Entity('What became of contacts whose enrollment was to end')
export class UnenrollResult {
  /** The sequence, for who asks for it. */
  sequenceId: string;
  @Count('How many enrollments were ended', { required: true }) unenrolled: number;
  @Count('How many were skipped', { required: true }) skipped: number;
  @Nested(
    () => UnenrollDetail,
    () => UnenrollDetail,
    'Each of them, in the order of the request',
    { list: mostEnrolled + 1, required: true },
  )
  details: UnenrollDetail[];
}

/** Contract GET /emails/sequences/{id}/enrollments. */
@Input('Which enrollments')
export class EnrollmentFilter {
  @OneOf(EnrollmentStatus, 'How they stand') status?: keyof typeof EnrollmentStatus | null;
  @Ref('In this sequence') sequenceId?: string | null;
  @Ref('Contact') contactId?: string | null;
}

export const EnrollmentSort = oneOf('EnrollmentSort', ['createdAt', 'updatedAt', 'nextEmailAt'], 'Sort keys of enrollments');

@ArgsType()
export class EnrollmentList extends ListArgsOf(EnrollmentFilter, EnrollmentSort) {}

@ObjectType({ description: 'A page of enrollments' })
export class EnrollmentConnection extends ConnectionOf(Enrollment) {}

/** What is told of enrollments; what has ended is told as updated, with its reason. */
export const enrollmentEvents = eventsOf('enrollment', 'Enrollment', ['created', 'updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    enrollment: typeof enrollmentEvents;
  }
}
