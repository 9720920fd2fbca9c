import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { appointmentTable, calendarTable } from './calendar.table.js';

export const calendarRelations = [
  ...relation(appointmentTable, 'calendarId', calendarTable, {
    one: { name: 'calendar', description: 'The calendar', required: true },
    many: { name: 'appointments', description: 'What is booked on it, the earliest first by default', isCounted: true },
  }),
  ...relation(appointmentTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact whom it is with; null when deleted' },
    many: { name: 'appointments', description: 'Appointments with the contact, the earliest first by default' },
  }),
  ...relation(appointmentTable, 'assignedTo', userTable, {
    one: { name: 'assignedUser', description: 'The user who has it' },
    many: { name: 'appointments', description: 'Appointments that the user has, the earliest first by default' },
  }),
];
