import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Detached } from '../../kernel/operations/operation.js';
import { validateCallFlow } from './callFlow.blockers.js';
import {
  CallFlow,
  CallFlowCheck,
  CallFlowConnection,
  CallFlowList,
  CreateCallFlowInput,
  PublishCallFlowInput,
  PublishedCallFlow,
  ReleasedNumber,
  ReleaseTombstoneInput,
  SimulateCallInput,
  Simulation,
  UpdateCallFlowInput,
  Wiring,
} from './callFlow.model.js';
import { publishCallFlow, unpublishCallFlow } from './callFlow.publish.js';
import * as flows from './callFlow.service.js';
import { simulateCallFlow } from './callFlow.simulate.js';
import { callFlowTable } from './callFlow.table.js';
import { getWiring, releaseTombstone, wireCallFlow } from './callFlow.wiring.js';
import { RosterList, RosterMember, RosterMemberConnection, SetPresenceInput } from './roster.model.js';
import * as roster from './roster.service.js';
import { VoiceNumberConnection, VoiceNumberList } from './voiceNumber.model.js';
import { listVoiceNumbers } from './voiceNumber.service.js';

const writing = { scope: 'settings', role: 'admin' } as const;
/** Of a key, contract "Call flows" asks the admin tier for these alone: a new flow, its wiring, and to release a number. */
const administration = { ...writing, admin: true } as const;

@Resolver(() => CallFlow)
@Access({ scope: 'settings' })
export class CallFlowResolver {
  @Query(() => CallFlowConnection, { description: 'Call flows, newest first unless sorted otherwise' })
  @Reads(callFlowTable)
  callFlows(@Ctx() ctx: Context, @Listing() args: CallFlowList) {
    return flows.listCallFlows(ctx, args);
  }

  @Query(() => CallFlow, { nullable: true, description: 'One call flow' })
  @Reads(callFlowTable)
  callFlow(@Ctx() ctx: Context, @IdArg() id: string) {
    return flows.getCallFlow(ctx, id);
  }

  @Query(() => CallFlowCheck, { nullable: true, description: 'What keeps the draft of a flow from being published' })
  callFlowBlockers(@Ctx() ctx: Context, @IdArg() id: string) {
    return validateCallFlow(ctx, id);
  }

  @Query(() => Wiring, { nullable: true, description: "How the vendor routes a flow's number now" })
  callFlowWiring(@Ctx() ctx: Context, @IdArg() id: string) {
    return getWiring(ctx, id);
  }

  @Query(() => RosterMemberConnection, { description: 'The active members, and whether they take calls' })
  callFlowRoster(@Ctx() ctx: Context, @Listing() args: RosterList) {
    return roster.listRoster(ctx, args);
  }

  @Query(() => VoiceNumberConnection, { description: "The workspace's numbers that take calls, and what answers them" })
  callFlowNumbers(@Ctx() ctx: Context, @Listing() args: VoiceNumberList) {
    return listVoiceNumbers(ctx, args);
  }

  @Mutation(() => CallFlow, { description: 'Makes a call flow, which answers nothing until it is published' })
  @Access(administration)
  createCallFlow(@Ctx() ctx: Context, @In() input: CreateCallFlowInput) {
    return flows.createCallFlow(ctx, input);
  }

  @Mutation(() => CallFlow, { description: 'Changes a call flow; its draft only where nobody changed it meanwhile' })
  @Access(writing)
  updateCallFlow(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateCallFlowInput) {
    return flows.updateCallFlow(ctx, id, input);
  }

  @Mutation(() => PublishedCallFlow, { description: 'Has the draft of a flow answer its number' })
  @Access(writing)
  @Detached()
  publishCallFlow(@Ctx() ctx: Context, @IdArg() id: string, @In() input: PublishCallFlowInput) {
    return publishCallFlow(ctx, id, input);
  }

  @Mutation(() => CallFlow, { description: 'Gives the number of a flow back; calls that go on are not cut' })
  @Access(writing)
  @Detached()
  unpublishCallFlow(@Ctx() ctx: Context, @IdArg() id: string) {
    return unpublishCallFlow(ctx, id);
  }

  @Mutation(() => Simulation, { description: 'Tells what would happen by the draft with a call that nobody answers; keeps nothing' })
  simulateCallFlow(@Ctx() ctx: Context, @IdArg() id: string, @In() input: SimulateCallInput) {
    return simulateCallFlow(ctx, id, input);
  }

  @Mutation(() => Wiring, { description: "Has the vendor ask the service about the calls of a published flow's number" })
  @Access(administration)
  @Detached()
  wireCallFlow(@Ctx() ctx: Context, @IdArg() id: string) {
    return wireCallFlow(ctx, id);
  }

  @Mutation(() => ReleasedNumber, { description: 'Gives a number that a flow has left back to what handled its calls before' })
  @Access(administration)
  @Detached()
  releaseCallFlowNumber(@Ctx() ctx: Context, @In() input: ReleaseTombstoneInput) {
    return releaseTombstone(ctx, input);
  }

  @Mutation(() => RosterMember, { description: 'Says whether the caller takes calls, and on which phone' })
  setCallPresence(@Ctx() ctx: Context, @In() input: SetPresenceInput) {
    return roster.setPresence(ctx, input);
  }
}
