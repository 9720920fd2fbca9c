import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { Email, Entity, Flag, Id, Input, Nested, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';

/** The most lines of one key that are looked at. */
export const mostLines = 1000;

export const VendorLineStatus = oneOf(
  'VendorLineStatus',
  { connected: 'A key is kept', not_configured: 'There is no key' },
  'Whether a key is kept',
);

@Entity('The agent who has a line')
export class LineHolder {
  @Ref('Who it is', { required: true, graphName: 'userId' }) id: string;
  @Text(100, 'Given name') firstName: string | null;
  @Text(100, 'Family name') lastName: string | null;
  @Email('E-mail address', { required: true }) email: string;
  @Flag('Whether the person is an active member', { required: true }) isActive: boolean;
}

/** Contract "Vendor-line messaging settings", assignments: one line an agent, one agent a line. */
@Entity('A line in the hands of an agent', { scope: 'settings' })
export class LineAssignment {
  @Id() id: string;
  @Text(100, 'The line, by its id at the vendor', { required: true }) lineId: string;
  @Text(30, 'Its number, E.164', { required: true }) phoneNumber: string;
  @Text(100, 'What the vendor calls it') label: string | null;
  @Nested(
    () => LineHolder,
    () => LineHolder,
    'Who has it',
    { required: true },
  )
  user: LineHolder;
  @Stamp('When it was assigned') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Entity('The key by which the workspace uses the vendor of lines', { scope: 'settings' })
export class VendorConnection {
  @Id() id: string;
  @Text(50, 'vendor_line', { required: true }) provider: string;
  @OneOf(VendorLineStatus, 'Whether a key is kept', { required: true }) status: keyof typeof VendorLineStatus;
  @Text(20, 'The key, masked', { required: true }) apiKey: string;
  @Ref('The user who connected it') connectedBy: string | null;
  @Stamp('When the first key was connected') createdAt: Date;
  @Stamp('When the key was last replaced') updatedAt: Date;
}

/** Contract "Vendor-line messaging settings": the connection record. */
@Entity('The settings of the vendor of lines', { scope: 'settings' })
export class VendorLine {
  @Text(50, 'vendor_line', { required: true }) provider: string;
  @OneOf(VendorLineStatus, 'Whether a key is kept', { required: true }) status: keyof typeof VendorLineStatus;
  @Text(20, 'The key, masked; null where none is kept') apiKey: string | null;
  @Nested(
    () => LineAssignment,
    () => LineAssignment,
    'Who has which line, the oldest first',
    { list: mostLines, required: true },
  )
  assignments: LineAssignment[];
  @Nested(
    () => VendorConnection,
    () => VendorConnection,
    'The connection as a record; null where none is kept',
  )
  connection: VendorConnection | null;
}

@Entity('The agent who has a line, by id and name')
export class LineAgent {
  @Ref('Who it is', { required: true }) userId: string;
  @Text(200, 'Name', { required: true }) name: string;
}

@Entity('A line as the vendor lists it', { scope: 'settings' })
export class InventoryLine {
  @Text(100, 'Its id at the vendor', { required: true }) lineId: string;
  @Text(30, 'Its number, E.164', { required: true }) phoneNumber: string;
  @Text(100, 'What the vendor calls it', { required: true }) name: string;
  @Nested(
    () => LineAgent,
    () => LineAgent,
    'Who has it',
  )
  assignedTo: LineAgent | null;
}

/** Contract "Line inventory". */
@Entity('The lines of the vendor', { scope: 'settings' })
export class LineInventory {
  @Nested(
    () => InventoryLine,
    () => InventoryLine,
    'What the key may use',
    { list: mostLines, required: true },
  )
  lines: InventoryLine[];
  @Nested(
    () => LineAssignment,
    () => LineAssignment,
    'Assignments of lines that the vendor no longer lists',
    { list: mostLines, required: true },
  )
  orphaned: LineAssignment[];
}

@Entity('An agent who had a line until now', { scope: 'settings' })
export class ReleasedLine {
  @Text(100, 'The line', { required: true }) lineId: string;
  @Text(30, 'Its number, E.164', { required: true }) phoneNumber: string;
  @Ref('Who had it', { required: true }) userId: string;
  @Text(200, 'Their name', { required: true }) name: string;
}

@Entity('A line after it was assigned or released', { scope: 'settings' })
export class LineOutcome {
  @Text(100, 'The line', { required: true }) lineId: string;
  @Text(30, 'Its number, E.164', { required: true }) phoneNumber: string;
  @Text(100, 'What the vendor calls it') label: string | null;
  @Nested(
    () => LineAgent,
    () => LineAgent,
    'Who has it now',
  )
  assignedTo: LineAgent | null;
  @Nested(
    () => ReleasedLine,
    () => ReleasedLine,
    'What was released in the same step: the line from its holder, and the line that the agent had',
    { list: 2, required: true },
  )
  released: ReleasedLine[];
}

@Input('A key of the vendor of lines')
export class ConnectVendorLineInput {
  @Text(512, 'The key, at most 512 characters; it is verified and never shown again', { required: true }) apiKey: string;
}

@Input('Whose a line is to be')
export class AssignLineInput {
  @Ref('The agent, an active member; null releases the line. It must be given', { given: 'orNull' }) userId?: string | null;
}

/** What is told of the connection: it was made, its key was replaced, it was ended. */
export const connectionEvents = eventsOf('vendor_connection', 'VendorConnection', [...everyChange]);

/** What is told of assignments: a line that goes from one agent to another is released and assigned. */
export const assignmentEvents = eventsOf('line_assignment', 'LineAssignment', ['created', 'deleted']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    vendorConnection: typeof connectionEvents;
    lineAssignment: typeof assignmentEvents;
  }
}
