import { ArgsType, ObjectType } from 'type-graphql';
import { callFlowMeanings } from '../../kernel/base/errorMeanings.js';
import { tooLarge } from '../../kernel/base/errors.js';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Edit,
  Entity,
  Flag,
  field,
  Id,
  Input,
  Instant,
  JsonObject,
  Nested,
  OneOf,
  oneOf,
  Phone,
  PhoneKeys,
  Ref,
  Stamp,
  Text,
  Texts,
} from '../../kernel/model/fields.js';
import { jsonFault } from '../../kernel/model/jsonFault.js';
import { New } from '../../kernel/model/newRecord.js';
import { Json } from '../../kernel/model/scalars.js';
import { Presence } from './roster.model.js';

/** The largest graph. */
const graphKilobytes = 1000;

/** A graph as it came: null and what has no shape of one are the service's to refuse, with 422. */
const Graph = (description: string) =>
  field(
    description,
    {},
    {
      type: () => Json,
      check: (value, at, report) => {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
        const fault = jsonFault(value);
        if (fault) report(at, fault.code, fault.message);
        else if (Buffer.byteLength(JSON.stringify(value)) > graphKilobytes * 1024)
          throw tooLarge(at, `must be at most ${graphKilobytes} KB of JSON`);
        return value;
      },
    },
  );

/** Contract "Call flows": why a draft cannot be published. */
export const BlockerCodes = oneOf('BlockerCode', callFlowMeanings, 'Why a draft cannot be published');
export type BlockerCode = keyof typeof BlockerCodes;

@Entity('What keeps a draft from being published')
export class Blocker {
  @Text(1000, 'The node at fault; null where it is none in particular') nodeId: string | null;
  @OneOf(BlockerCodes, 'What is wrong', { required: true }) code: BlockerCode;
  @Text(500, 'The same in words', { required: true }) message: string;
}

@Entity('Whether a draft can be published')
export class CallFlowCheck {
  @Nested(
    () => Blocker,
    () => Blocker,
    'What keeps it from being published; nothing where it can be',
    { list: 100, required: true },
  )
  blockers: Blocker[];
}

/** Contract "Call flow": what a client says of one besides its graph. */
@ObjectType()
export class CallFlowFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Phone('The number that it answers, E.164; no two flows of the workspace have the same') phoneNumber: string | null;
}

@Entity('What happens with who calls a number', { scope: 'settings' })
export class CallFlow extends CallFlowFields {
  @Id() id: string;
  @JsonObject(graphKilobytes, 'The graph that is worked on: {entryId, nodes}', { required: true }) draftGraph: object;
  @Count('How often the draft was saved; a change of it names the one that it is of', { required: true }) draftRevision: number;
  @JsonObject(graphKilobytes, 'The graph that answers calls; null while the flow is not published') publishedGraph: object | null;
  @Count('The version of it; null while the flow is not published') publishedVersion: number | null;
  @Stamp('When it was published; null while it is not', {}) publishedAt: Date | null;
  @Count('Calls of today that it answered and that are over, by the clocks of the workspace', { required: true }) callsToday: number;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Entity('A publication of a call flow, as it answers calls that began by it to their end', { scope: 'settings' })
export class CallFlowVersion {
  @Id() id: string;
  @Ref('The call flow', { required: true }) callFlowId: string;
  @Count('Which publication it is, from 1 on', { required: true }) version: number;
  @Phone('The number that it was published for') phoneNumber: string | null;
  @JsonObject(graphKilobytes, 'Its graph', { required: true }) graph: object;
  @Ref('Who published it; null where no person did') publishedBy: string | null;
  @Stamp('When it was published') createdAt: Date;
}

const graphWords = 'The graph {entryId, nodes [{id, kind: entry, greeting, agent, group, menu, timing, voicemail, forward or hangup …}]}';

@Input('A new call flow')
export class CreateCallFlowInput extends New(CallFlowFields) {
  @Graph(`${graphWords}; an entry that leads to a voicemail by default. Faults may be kept in a draft`) draftGraph?: unknown;
}

@Input('Changes to a call flow: absent keeps, null clears')
export class UpdateCallFlowInput extends Edit(CallFlowFields) {
  @Graph(`${graphWords}; it replaces the draft`) draftGraph?: unknown;
  @Count('The draftRevision that the draft is a change of; required with draftGraph') expectedDraftRevision?: number | null;
}

@Input('What is published')
export class PublishCallFlowInput {
  @Instant('The updatedAt of the flow as it was looked at; required', { given: 'value' }) expectedUpdatedAt?: Date | null;
}

@Entity('How the vendor routes the number of a flow')
export class Wiring {
  @Flag('Whether calls of the number come to the service', { required: true }) wired: boolean;
  @Text(2000, 'Where the vendor must ask about a call', { required: true }) inboundUrl: string;
  @Text(2000, 'Where it asks; null where that is not known, or nowhere') voiceUrl: string | null;
  @Text(500, 'Why it is not wired') error: string | null;
}

@Entity('A published flow, and how the vendor routes its number')
export class PublishedCallFlow {
  @Nested(
    () => CallFlow,
    () => CallFlow,
    'The flow',
    { required: true },
  )
  callFlow: CallFlow;
  @Nested(
    () => Wiring,
    () => Wiring,
    'How the vendor routes its number',
    { required: true },
  )
  wiring: Wiring;
}

@Input('A caller to be simulated')
export class SimulateCallInput {
  @PhoneKeys(100, 'What the caller presses, one digit a menu; nothing by default') digits?: string[] | null;
  @Instant('When they call; now by default') at?: Date | null;
}

@Entity('Somebody whom a call would ring, or pass over')
export class SimulatedRing {
  @Text(1000, 'The node that rings them', { required: true }) nodeId: string;
  @Ref('Who it is', { required: true }) userId: string;
  @Text(200, 'How they are called') name: string | null;
  @Text(30, 'Their phone') did: string | null;
  @OneOf(Presence, 'Whether they take calls now', { required: true }) presence: keyof typeof Presence;
  @Flag('Whether they would be rung', { required: true }) rings: boolean;
}

export const CallEnding = oneOf(
  'CallEnding',
  { voicemail: 'A message can be left', forward: 'It is put through to another number', hangup: 'It is hung up' },
  'How a call flow ends a call',
);

@Entity('Where a call would end')
export class SimulatedEnding {
  @Text(1000, 'The node', { required: true }) nodeId: string;
  @OneOf(CallEnding, 'How', { required: true }) kind: keyof typeof CallEnding;
}

@Entity('What would happen with a call that nobody answers')
export class Simulation {
  @Texts(100_000, 1000, 'The nodes that it comes to, in order', { required: true }) path: string[];
  @Nested(
    () => SimulatedRing,
    () => SimulatedRing,
    'Who would be rung, in order',
    { list: 100_000, required: true },
  )
  ringOrder: SimulatedRing[];
  @Nested(
    () => SimulatedEnding,
    () => SimulatedEnding,
    'Where it would end; null where it goes in circles or nowhere',
  )
  ending: SimulatedEnding | null;
}

@Input('Which call flows')
export class CallFlowFilter {
  @Flag('Only those that are published, or only those that are not') isPublished?: boolean | null;
}

export const CallFlowSort = oneOf('CallFlowSort', ['createdAt'], 'Sort keys of call flows');

@ArgsType()
export class CallFlowList extends ListArgsOf(CallFlowFilter, CallFlowSort) {}

@ObjectType({ description: 'A page of call flows' })
export class CallFlowConnection extends ConnectionOf(CallFlow) {}

@Input('Which versions of call flows')
export class CallFlowVersionFilter {
  @Ref('Of this call flow') callFlowId?: string | null;
}

export const CallFlowVersionSort = oneOf('CallFlowVersionSort', ['version', 'createdAt'], 'Sort keys of versions of call flows');

@ArgsType()
export class CallFlowVersionList extends ListArgsOf(CallFlowVersionFilter, CallFlowVersionSort) {}

@ObjectType({ description: 'A page of versions of call flows' })
export class CallFlowVersionConnection extends ConnectionOf(CallFlowVersion) {}

@Input('A number that was released from a call flow')
export class ReleaseTombstoneInput {
  @Phone('The number, E.164', { required: true }) phoneNumber: string;
}

@Entity('What a release answers')
export class ReleasedNumber {
  @Phone('The number, E.164', { required: true }) phoneNumber: string;
  @Flag('Always true', { required: true }) released: boolean;
  @Text(2000, 'Where the vendor asks about its calls now') voiceUrl: string | null;
}

/** What is told of call flows. */
export const callFlowEvents = eventsOf('call_flow', 'CallFlow', ['created', 'updated', 'published', 'unpublished']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    callFlow: typeof callFlowEvents;
  }
}
