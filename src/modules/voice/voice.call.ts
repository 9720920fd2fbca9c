import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, json, jsonText, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { slot, statement } from '../../kernel/database/statement.js';
import type { VoiceConfig } from '../../vendors/sms/voice.js';
import { accountAt, actingAt } from '../auth/auth.acting.js';
import type { DraftGraph } from '../callFlows/callFlow.graph.js';
import { type Agent, agentsById, type CallMember } from '../callFlows/roster.service.js';
import { presence } from '../callFlows/roster.table.js';

export const voiceActor: Actor = { kind: 'system', id: null, name: 'Call flow' };

/** Somebody who was rung, and where. */
export interface Ring {
  userId: string;
  did: string;
}

/** Who was rung by a node at a turn, by the key of the choice. */
export type Choices = Record<string, Ring[]>;

/** What is known of a call when something is asked about it. */
export interface CallState {
  /** The live call's id; null where the call has just begun. */
  call: string | null;
  flow: string | null;
  version: number | null;
  /** The number that the flow answers. */
  number: string | null;
  graph: DraftGraph | null;
  choices: Choices | null;
  /** When it began, ISO 8601; null where it has just begun. */
  startedAt: string | null;
  agents: CallMember[];
  /** The next turns of the groups of the flow that ring one after another, by their nodes; those that never rang are at 0. */
  turns: Record<string, number> | null;
}

/** What is to be known of one that begins besides. */
export interface NewCallState extends CallState {
  contactId: string | null;
  /** Whether it is in the log already. */
  isOver: boolean;
  /** How the number was routed before a flow that has left it. */
  prior: VoiceConfig | null;
}

/** The numbers of a call as the vendor names them. */
export interface Ends {
  sid: string;
  from: string;
  to: string;
}

const known = sql`
  'call', l.id, 'flow', v.call_flow_id, 'version', v.version, 'number', v.phone_number, 'graph', v.graph, 'choices', l.choices, 'startedAt', l.started_at,
  'agents', (select coalesce(json_agg(json_build_object('userId', t.user_id, 'name', t.name, 'phone', t.phone, 'presence', ${presence})), '[]')
    from memberships t where t.account_id = a.id and t.user_id = any(v.user_ids) and t.status = 'active'),
  'turns', (select json_object_agg(p.node_id, (p.position + 1) % 1000000000) from call_flow_pointers p
    where p.account_id = a.id and p.call_flow_id = v.call_flow_id)`;

const [sid, from, to] = (['sid', 'from', 'to'] as const).map((name) => slot(name, 'text')) as [Sql, Sql, Sql];

const ofNew = sql`
  'contactId', (select c.id from contacts c where c.account_id = a.id and c.deleted_at is null and c.phone = ${from} order by c.created_at, c.id limit 1),
  'isOver', exists (select 1 from calls c where c.account_id = a.id and c.provider_id = ${sid}),
  'prior', (select d.prior_config from call_flow_tombstones d where d.account_id = a.id and d.phone_number = ${to} and d.released_at is null)`;

const version = sql`left join call_flow_versions v on v.account_id = a.id
  and v.call_flow_id = coalesce(l.call_flow_id, f.id) and v.version = coalesce(l.call_flow_version, f.published_version)`;

const callToNumber = accountAt({
  value: sql`json_build_object(${known}, ${ofNew})`,
  from: sql`phone_numbers n join accounts a on a.id = n.account_id
    left join call_flows f on f.account_id = a.id and f.phone_number = n.number and f.published_version is not null
    left join live_calls l on l.account_id = a.id and l.provider_id = ${sid} ${version} where n.number = ${to}`,
});

/** A call, and the context of the account whose number is called: one statement. Undefined where no account has the number. */
export const callTo = (ctx: Context, { sid, from, to }: Ends) =>
  actingAt<NewCallState>(ctx, callToNumber.with({ sid, from, to }), voiceActor);

const callById = accountAt({
  value: sql`json_build_object(${known})`,
  from: sql`accounts a join live_calls l on l.account_id = a.id and l.id = ${slot('call', 'uuid')}
    left join call_flows f on false ${version} where a.id = ${slot('account', 'uuid')}`,
});

/** A call that goes on, by the ids in an address of ours. */
export const callAt = (ctx: Context, account: string, call: string) =>
  actingAt<CallState>(ctx, callById.with({ account, call }), voiceActor);

// The number of a call that goes on may have been given up meanwhile, and be another workspace's by now. Its end is told to whoever had it
// also when it is told again: by then it is in the log.
const callThatEnds = accountAt({
  value: sql`null`,
  from: sql`accounts a where a.id = coalesce(
    (select l.account_id from live_calls l where l.provider_id = ${sid} order by l.started_at limit 1),
    (select c.account_id from calls c where c.provider_id = ${sid} order by c.created_at limit 1),
    (select n.account_id from phone_numbers n where n.number = ${to}))`,
});

/**
 * The context of the account whose call is over: that in which it goes on, else that which has it in its log, else the one that has
 * the number. Undefined where there is none, or it is suspended.
 */
export const accountOfCall = async (ctx: Context, { sid, to }: Ends): Promise<Context | undefined> =>
  (await actingAt<null>(ctx, callThatEnds.with({ sid, to }), voiceActor))?.acting;

/** Those whom a call may ring, by their ids. */
export const agentsIn = (acting: Context, { agents, number }: CallState): ReadonlyMap<string, Agent> => agentsById(acting, agents, number);

/** The turn of a group that a choice takes. */
export interface TakenTurn {
  flow: string;
  node: string;
  turn: number;
}

/** Who is rung; the turn that they are chosen by is taken with the write that keeps them, where it is not taken yet. */
export interface Choice {
  rings: Ring[];
  takes?: TakenTurn;
}

/** A row where the turn is still to be had, which takes it. */
export const takingTurn = (account: string, { flow, node, turn }: TakenTurn): Sql =>
  sql`select 1 where take_turn(${account}::uuid, ${flow}::uuid, ${node}::text, ${turn}::int)`;

const turn = statement({
  name: 'takeTurn',
  takes: { flow: uuid, node: text },
  row: { position: integer },
  changes: true,
  text: ({ account, flow, node }) => sql`
    insert into call_flow_pointers as p (account_id, call_flow_id, node_id, position)
    select f.account_id, f.id, ${node}, 0 from call_flows f where f.account_id = ${account} and f.id = ${flow}
    on conflict (account_id, call_flow_id, node_id) do update set position = (p.position + 1) % 1000000000 returning position`,
});

/** Takes the next turn of a group, whoever else takes one: the stored pointer moves on, so that no two calls begin with the same. */
export async function takeTurn(ctx: Context, flow: string, node: string): Promise<number> {
  const [taken] = await ctx.rows(turn, { flow, node });
  return taken!.position;
}

const pin = statement({
  name: 'pinChoice',
  takes: { call: uuid, key: text, rings: jsonText, flow: nullable(uuid), node: nullable(text), turn: nullable(integer) },
  row: { rings: nullable(json<Ring[]>()) },
  changes: true,
  text: ({ account, call, key, rings, flow, node, turn }) => sql`
    update live_calls l set choices = case when l.choices ? ${key} then l.choices else l.choices || jsonb_build_object(${key}, ${rings}::jsonb) end
    where l.account_id = ${account} and l.id = ${call} and (l.choices ? ${key} or ${node} is null or take_turn(${account}, ${flow}, ${node}, ${turn}))
    returning l.choices -> ${key} as rings`,
});

const noTurn = { flow: null, node: null, turn: null };

/**
 * Keeps who is rung at a turn; answers what was kept first, undefined where another call took the turn of the group or the call is over.
 */
export async function pinChoice(ctx: Context, call: string, key: string, { rings, takes }: Choice): Promise<Ring[] | undefined> {
  const [kept] = await ctx.rows(pin, { call, key, rings: JSON.stringify(rings), ...(takes ?? noTurn) });
  return kept?.rings ?? undefined;
}
