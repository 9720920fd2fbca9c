import { AppError } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { VendorNumber } from '../../vendors/sms/sms.js';
import { isShared } from '../numbers/number.service.js';
import { graphFaults, mostTold } from './callFlow.faults.js';
import { type DraftGraph, forwardsOf, personOf, usersOf } from './callFlow.graph.js';
import type { Blocker, CallFlowCheck } from './callFlow.model.js';
import { getCallFlow, type KeptFlow } from './callFlow.service.js';
import { agentsOf } from './roster.service.js';

const number = { isOurs: flag, claimedBy: nullable(text) };

const registered = statement({
  name: 'registeredNumber',
  takes: { number: text },
  row: number,
  text: ({ account, number: wanted }) => sql`
    select n.account_id = ${account} as "isOurs", n.claimed_by as "claimedBy" from phone_numbers n where n.number = ${wanted}`,
});

// Over all workspaces: a loop may lead through one of another, of which nobody hears more than that it is one.
const loops = statement({
  name: 'forwardLoop',
  takes: { targets: listOf(text), number: text, flow: uuid },
  row: { number: text },
  text: ({ account, targets, number: own, flow }) => sql`
    with recursive led(number) as (
      select unnest(${targets})
      union select unnest(v.forwards_to) from led
        join phone_numbers n on n.number = led.number
        join call_flows f on f.account_id = n.account_id and f.phone_number = n.number and not (f.account_id = ${account} and f.id = ${flow})
        join call_flow_versions v on v.account_id = f.account_id and v.call_flow_id = f.id and v.version = f.published_version)
    select number from led where number = ${own} limit 1`,
});

/** What the vendor says of a number: that it has it, that it has not, or nothing. */
export type AtVendor = { listed: VendorNumber | undefined } | { failed: true };

/** Asks the vendor about the number of a flow. */
export async function atVendor({ app }: Context, number: string | null): Promise<AtVendor> {
  if (!number) return { listed: undefined };
  return app.vendors.sms.number(number).then(
    (listed) => ({ listed: listed?.hasVoice ? listed : undefined }),
    () => ({ failed: true as const }),
  );
}

/** Whether a number is the workspace's, and whether it is yet to be claimed for it. */
async function ownershipOf(ctx: Context, number: string, vendor: AtVendor): Promise<{ fault?: Blocker; isUnclaimed: boolean }> {
  const ownershipFault = (code: Blocker['code'], message: string) => ({ fault: { nodeId: null, code, message }, isUnclaimed: false });
  const [known] = await ctx.rows(registered, { number });
  if ((known ? !known.isOurs : isShared(ctx, number)) || ('listed' in vendor && !vendor.listed))
    return ownershipFault('number_missing', `${number} is no number of the workspace that takes calls`);
  if (known?.claimedBy) return ownershipFault('number_claimed', `${number} is answered by something else`);
  return { isUnclaimed: !known };
}

/** What keeps a flow from being published, and whether its number is yet to be claimed for the workspace. */
interface Found {
  blockers: Blocker[];
  isUnclaimed: boolean;
}

/** What of its number keeps a flow from being published. */
async function numberFaults(ctx: Context, { phoneNumber, id, draftGraph }: KeptFlow, vendor: AtVendor): Promise<Found> {
  if (!phoneNumber)
    return { blockers: [{ nodeId: null, code: 'number_missing', message: 'The flow has no phone number' }], isUnclaimed: false };
  const { fault, isUnclaimed } = await ownershipOf(ctx, phoneNumber, vendor);
  const targets = forwardsOf(draftGraph as DraftGraph);
  const [loop] = targets.length > 0 ? await ctx.rows(loops, { targets, number: phoneNumber, flow: id }) : [];
  if (!loop) return { blockers: fault ? [fault] : [], isUnclaimed };
  // Which forward begins the circle is known where it leads straight back.
  const straight = (draftGraph as DraftGraph).nodes.find((node) => node.kind === 'forward' && node.phoneNumber === phoneNumber);
  const looping: Blocker = {
    nodeId: straight?.id ?? null,
    code: 'bad_forward_number',
    message: 'A forward leads back to the number of the flow',
  };
  return { blockers: fault ? [looping, fault] : [looping], isUnclaimed };
}

async function memberFaults(ctx: Context, graph: DraftGraph, ownNumber: string | null): Promise<Blocker[]> {
  const agents = await agentsOf(ctx, usersOf(graph), ownNumber);
  return graph.nodes.flatMap((node) => {
    if (node.kind !== 'agent' && node.kind !== 'group') return [];
    const members = node.kind === 'agent' ? [{ userId: node.userId }] : Array.isArray(node.members) ? node.members : [];
    const silent = members.filter((member) => !agents.get(personOf((member as { userId?: unknown } | null)?.userId))?.did).length;
    const message = `${silent} of ${members.length} members cannot be rung: each must be active and have a phone of their own`;
    return silent > 0 ? [{ nodeId: node.id, code: 'member_no_phone' as const, message }] : [];
  });
}

/** What keeps a flow from being published: that of its graph first, and no more than are told. */
export async function blockersOf(ctx: Context, flow: KeptFlow, vendor: AtVendor): Promise<Found> {
  const graph = flow.draftGraph as DraftGraph;
  const faults = [...graphFaults(graph), ...(await memberFaults(ctx, graph, flow.phoneNumber))];
  const { blockers, isUnclaimed } = await numberFaults(ctx, flow, vendor);
  return { blockers: [...faults, ...blockers].slice(0, mostTold), isUnclaimed };
}

/** Contract GET /call-flows/{id}/validate. What the vendor does not say of the number keeps nothing from being published. */
export async function validateCallFlow(ctx: Context, id: string): Promise<CallFlowCheck> {
  const flow = await getCallFlow(ctx, id);
  const { blockers } = await blockersOf(ctx, flow, await atVendor(ctx, flow.phoneNumber));
  return { blockers };
}

/** 422 with the code of the first blocker, and all of them that are told. */
export const blocked = (blockers: readonly Blocker[]): AppError =>
  new AppError(
    blockers[0]!.code,
    blockers
      .map(({ nodeId, message }) => (nodeId ? `${nodeId}: ${message}` : message))
      .slice(0, 20)
      .join('; '),
    {
      more: { blockers },
    },
  );
