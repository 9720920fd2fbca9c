import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, edit, list, make, read } from '../../kernel/module/routes.js';
import { doStep } from './enrollment.due.js';
import { Enrollment, enrollmentEvents } from './enrollment.model.js';
import { onAppointment, onContactDeleted, onContactUpdated, onMessageReceived, onMessageUpdated } from './enrollment.reactions.js';
import { findEnrollment } from './enrollment.service.js';
import { enrollmentTable } from './enrollment.table.js';
import { Sequence, SequenceStats, sequenceEvents } from './sequence.model.js';
import { enrollmentAnswers, sequenceRelations } from './sequence.relations.js';
import { EnrollmentResolver, SequenceResolver } from './sequence.resolver.js';
import { findSequence, usesOfTemplate } from './sequence.service.js';
import { sequenceStepTable, sequenceTable } from './sequence.table.js';

const access = { scope: 'emails' };
const stats = `stats { ${namesOf(SequenceStats).join(' ')} }`;

const ofEnrollment = { id: 'sequenceId', enrollmentId: 'id' };

export default defineModule({
  name: 'sequences',
  about: 'Messages to a contact in steps over days, and who is in them',
  tables: [sequenceTable, sequenceStepTable, enrollmentTable],
  relations: sequenceRelations,
  resolvers: [SequenceResolver, EnrollmentResolver],
  answers: enrollmentAnswers,
  references: { sequence: { of: sequenceTable } },
  uses: { template: usesOfTemplate },
  events: [
    recordFeed(sequenceEvents, { record: () => Sequence, find: findSequence, access }),
    recordFeed(enrollmentEvents, {
      record: () => Enrollment,
      find: findEnrollment,
      by: { sequenceId: 'Only enrollments in this sequence', contactId: 'Only enrollments of this contact' },
      access,
    }),
  ],
  on: {
    'message.received': onMessageReceived,
    'appointment.created': onAppointment,
    'appointment.updated': onAppointment,
    'message.updated': onMessageUpdated,
    'contact.updated': onContactUpdated,
    'contact.deleted': onContactDeleted,
  },
  due: { enrollments: { table: 'enrollments', actor: { kind: 'sender', id: null, name: 'Sequence' }, pause: 60, work: doStep } },
  routes: [
    list('GET /emails/sequences', 'sequences', { as: 'page' }),
    make('POST /emails/sequences', 'createSequence', { also: [402] }),
    read('GET /emails/sequences/{id}', 'sequence', { with: stats }),
    edit('PATCH /emails/sequences/{id}', 'updateSequence'),
    act('POST /emails/sequences/{id}/enroll', 'enroll', { also: [402] }),
    act('POST /emails/sequences/{id}/unenroll', 'unenroll', { also: [422] }),
    list('GET /emails/sequences/{id}/enrollments', 'sequenceEnrollments', { as: 'page' }),
    act('POST /emails/sequences/{id}/enrollments/{enrollmentId}/pause', 'pauseEnrollment', { pathArgs: ofEnrollment, also: [409] }),
    act('POST /emails/sequences/{id}/enrollments/{enrollmentId}/resume', 'resumeEnrollment', { pathArgs: ofEnrollment, also: [409] }),
    read('GET /emails/sequences/{id}/stats', 'sequenceStats'),
  ],
});
