import type { Context } from '../../kernel/context/context.js';
import { isRetryable, isTaken } from '../../kernel/database/errors.js';
import { isUuid } from '../../kernel/model/checks.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { type Patiently, patience } from '../../kernel/operations/ownTransaction.js';
import type { Verb } from '../../vendors/sms/voice.js';
import { actingForAccount } from '../auth/auth.acting.js';
import { type AgentNode, type GroupNode, personOf } from '../callFlows/callFlow.graph.js';
import { isRung, nodesById, ringOrder } from '../callFlows/callFlow.route.js';
import { genuine } from '../numbers/number.notice.js';
import { isBypassed, priorOf, voicePath, voiceStatusPath } from '../numbers/number.routing.js';
import { beginCall, callersNumber, endCall, progress } from './liveCall.service.js';
import {
  accountOfCall,
  agentsIn,
  type CallState,
  type Choice,
  type Choices,
  callAt,
  callTo,
  type Ends,
  type NewCallState,
  pinChoice,
  type Ring,
  type TakenTurn,
  takeTurn,
  voiceActor,
} from './voice.call.js';
import { CallFlowExecutor, type CallInFlow, type Turn } from './voice.executor.js';

const endsOf = ({ CallSid = '', From = '', To = '' }: Record<string, string>): Ends => ({ sid: CallSid, from: From.slice(0, 64), to: To });

const hangup: Verb = { kind: 'hangup' };

/** How the vendor says that a call is over. */
const final = new Set(['completed', 'busy', 'no-answer', 'canceled', 'failed']);

async function reply({ app }: Context, verbs: readonly Verb[]): Promise<RawReply> {
  return { type: 'text/xml; charset=utf-8', body: await app.vendors.sms.document(verbs) };
}

/**
 * What a request asks about a call. What is held of that is waited for while the caller waits: nobody would go on with a call after a
 * refusal.
 */
interface Asked {
  acting: Context;
  state: CallState;
  patiently: Patiently;
}

/**
 * Who of a node takes calls now, in the order in which they are rung. The turn of a group is that which was read with the call, unless
 * others compete for it: then it is taken at once.
 */
async function chosenIn({ acting, state, patiently }: Asked, node: AgentNode | GroupNode, isContested: boolean): Promise<Choice> {
  const agents = agentsIn(acting, state);
  const rung = (ids: readonly string[]) =>
    ids.flatMap((userId): Ring[] => {
      const agent = agents.get(userId);
      return isRung(agent) ? [{ userId, did: agent.did }] : [];
    });
  if (node.kind === 'agent') return { rings: rung([personOf(node.userId)]) };
  const anybody = rung(node.members.map(({ userId }) => personOf(userId))).length > 0;
  if (!anybody) return { rings: [] };
  const ordering = { clock: acting.app.clock, isRung: (userId: string) => isRung(agents.get(userId)) };
  const inOrder = (turn: number) => rung(ringOrder(node, turn, ordering));
  if (node.mode !== 'round_robin') return { rings: inOrder(0) };
  if (isContested) return { rings: inOrder(await patiently(() => takeTurn(acting, state.flow!, node.id))) };
  // A node may be called as something that every object has.
  const turn = state.turns && Object.hasOwn(state.turns, node.id) ? state.turns[node.id]! : 0;
  return { rings: inOrder(turn), takes: { flow: state.flow!, node: node.id, turn } };
}

/** Who is rung by a node of a call that goes on, kept with the call. */
async function pinnedIn(asked: Asked, key: string, node: AgentNode | GroupNode): Promise<Ring[]> {
  const { acting, state, patiently } = asked;
  const pin = (choice: Choice) => patiently(() => pinChoice(acting, state.call!, key, choice));
  const kept = await pin(await chosenIn(asked, node, false));
  if (kept) return kept;
  const chosen = await chosenIn(asked, node, true);
  return (await pin(chosen)) ?? chosen.rings;
}

type Rings = CallInFlow['rings'];

/** A call as its flow walks it. */
function callInFlow({ acting, state }: Asked, id: string, { from, to }: Ends, rings: Rings): CallInFlow {
  const { config } = acting.app;
  const base = `${config.publicUrl}${voicePath}/${acting.caller.account.id}/${id}`;
  return {
    nodes: nodesById(state.graph!),
    zone: acting.caller.account.timezone,
    startedAt: state.startedAt ? new Date(state.startedAt) : acting.now(),
    address: (turn) =>
      `${base}?${new URLSearchParams(Object.entries(turn).flatMap(([name, of]) => (of === undefined ? [] : [[name, String(of)]])))}`,
    answered: (userId) => `${base}/answered${userId ? `?${new URLSearchParams({ user: userId })}` : ''}`,
    // Carriers refuse to ring somebody for a caller without a number: the number called is always one of ours.
    shownAs: callersNumber(acting, from) ? undefined : to || undefined,
    rings,
  };
}

/** Who is rung, chosen once for a key. */
function chosenOnce(choices: Choices, choose: (key: string, node: AgentNode | GroupNode) => Promise<Ring[]>): Rings {
  return async (key, node) => {
    // The key is of an address, which may name what every object has.
    if (!Object.hasOwn(choices, key)) choices[key] = await choose(key, node);
    return choices[key]!;
  };
}

/** What becomes of a call to a number that no flow answers: how it was routed before, where that is an address; else nothing. */
function standardRouting(ctx: Context, { prior }: NewCallState): Verb[] {
  const before = priorOf(ctx, prior);
  if (before?.voiceUrl && !isBypassed(before)) return [{ kind: 'redirect', url: before.voiceUrl, method: before.voiceMethod }];
  return [{ kind: 'say', text: 'Nobody answers calls to this number.' }, hangup];
}

/**
 * POST /webhooks/twilio/voice: a call to one of our numbers begins. It follows the version that is published now to its end. Asked
 * again, the same is answered.
 */
export async function takeCall(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const ends = endsOf(await genuine(ctx, voicePath, request));
  const patiently = patience();
  try {
    return await reply(ctx, await begun(ctx, ends, patiently));
  } catch (error) {
    // Asked twice at one moment: the other has begun it. Or another call took the turn of the group that it rings.
    if (!isTaken(error) && !isRetryable(error)) throw error;
    return reply(ctx, await begun(ctx, ends, patiently, true));
  }
}

async function begun(ctx: Context, ends: Ends, patiently: Patiently, isContested = false): Promise<readonly Verb[]> {
  const found = ends.sid ? await callTo(ctx, ends) : undefined;
  if (!found || found.value.isOver) return [hangup];
  const { acting, value: state } = found;
  if (!state.graph) return standardRouting(ctx, state);
  const asked = { acting, state, patiently };
  const choices: Choices = { ...state.choices };
  const id = state.call ?? ctx.app.clock.id();
  let takes: TakenTurn | undefined;
  const choose = async (_key: string, node: AgentNode | GroupNode) => {
    const chosen = await chosenIn(asked, node, isContested);
    takes = chosen.takes;
    return chosen.rings;
  };
  const pinOrChoose = state.call ? (key: string, node: AgentNode | GroupNode) => pinnedIn(asked, key, node) : choose;
  const executor = new CallFlowExecutor(callInFlow(asked, id, ends, chosenOnce(choices, pinOrChoose)), { n: 0 });
  await executor.go(String(state.graph.entryId));
  const flow = { callFlowId: state.flow!, callFlowVersion: state.version! };
  const call = { ...flow, providerId: ends.sid, fromNumber: ends.from, toNumber: ends.to, contactId: state.contactId, choices };
  if (!state.call) await patiently(() => beginCall(acting, id, call, takes));
  return executor.verbs;
}

const whole = (text: string | undefined) => (text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined);

/** The turn that an address asks for. */
const turnOf = ({ n, do: what, at = '', k, c, i, h, s }: Record<string, string>): Turn => ({
  n: whole(n) ?? 0,
  do: what as Turn['do'],
  at,
  k: whole(k),
  c,
  i: whole(i),
  h: whole(h),
  s: whole(s),
});

type Found = NonNullable<Awaited<ReturnType<typeof callAt>>>;

/** POST /webhooks/twilio/voice/{account}/{call}: how a call goes on, by an address of ours that says where it is in its flow. */
export async function takeTurnOf(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const { account = '', call = '' } = request.params;
  const form = await genuine(ctx, `${voicePath}/${account}/${call}`, request);
  if (!isUuid(account) || !isUuid(call)) return reply(ctx, [hangup]);
  const [ends, turn] = [endsOf(form), turnOf(request.query)];
  const found = await callAt(ctx, account, call);
  if (turn.do === 'recorded') await keepRecording(ctx, account, ends, form);
  // Of a call that is over, the log learns it: the caller may hang up first, and that is reported at the same time.
  if (wasTaken(turn, form)) await keepAnswer(ctx, account, found, turn, ends);
  // The caller has hung up: walking on would take the turn of a group for nobody.
  const isOver = turn.do === 'recorded' || final.has(form.CallStatus ?? '');
  if (!found?.value.graph || isOver) return reply(ctx, [hangup]);
  const { acting, value: state } = found;
  const asked = { acting, state, patiently: patience() };
  const rings = chosenOnce({ ...state.choices }, (key, node) => pinnedIn(asked, key, node));
  const executor = new CallFlowExecutor(callInFlow(asked, call, ends, rings), turn);
  await executor.take(turn, form);
  return reply(ctx, executor.verbs);
}

/** A message was left. */
async function keepRecording({ app }: Context, account: string, ends: Ends, { RecordingUrl: recordingUrl }: Record<string, string>) {
  const acting = await actingForAccount(app, account, { actor: voiceActor });
  if (acting && ends.sid && recordingUrl)
    await progress(acting, ends, () => ({ status: 'voicemail', recordingUrl: recordingUrl.slice(0, 2000) }));
}

/** Whether a turn tells that somebody was on the line. */
const wasTaken = (turn: Turn, { DialCallStatus: dialled }: Record<string, string>) =>
  dialled === 'completed' && (turn.do === 'rang' || turn.do === 'forwarded');

const choicesOf = (found: Found | undefined, key: string): Ring[] => {
  const choices = found?.value.choices ?? {};
  return Object.hasOwn(choices, key) ? (choices[key] as Ring[]) : [];
};

/** Somebody was on the line, and is no more: who it was is known where one phone rang alone, else it is told by itself. */
async function keepAnswer({ app }: Context, account: string, found: Found | undefined, turn: Turn, ends: Ends): Promise<void> {
  const acting = found?.acting ?? (await actingForAccount(app, account, { actor: voiceActor }));
  const rings = turn.do === 'rang' ? choicesOf(found, turn.c ?? '') : [];
  if (acting && ends.sid) await answeredBy(acting, ends, rings.length === 1 ? rings[0]!.userId : null, true);
}

/** Somebody answered. That they are gone from the line stays so, also where it is told later that they answered: the call ends then. */
function answeredBy(acting: Context, ends: Ends, userId: string | null, isGone = false): Promise<void> {
  return progress(acting, ends, (live) => {
    const isKnown = live.answeredAt !== null && (live.userId !== null || userId === null);
    return {
      ...(!isKnown && { status: 'in_progress' as const, answeredAt: live.answeredAt ?? acting.now(), userId: live.userId ?? userId }),
      ...(isGone && { lineFreeAt: live.lineFreeAt ?? acting.now() }),
    };
  });
}

/** POST /webhooks/twilio/voice/{account}/{call}/answered: one of those who were rung has answered, or whoever a call was forwarded to. */
export async function takeAnswer(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const { account = '', call = '' } = request.params;
  const { ParentCallSid: sid = '' } = await genuine(ctx, `${voicePath}/${account}/${call}/answered`, request);
  const { user } = request.query;
  if (sid && isUuid(account)) {
    const acting = await actingForAccount(ctx.app, account, { actor: voiceActor });
    // Of the leg of who answered: which number the caller called is not told.
    if (acting) await answeredBy(acting, { sid, from: '', to: '' }, isUuid(user) ? user : null);
  }
  return reply(ctx, []);
}

/** POST /webhooks/twilio/voice/status: how a call ended. It is written to the log once, however often that is told. */
export async function takeStatus(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const form = await genuine(ctx, voiceStatusPath, request);
  const ends = endsOf(form);
  const acting = ends.sid && final.has(form.CallStatus ?? '') ? await accountOfCall(ctx, ends) : undefined;
  if (acting) await endCall(acting, ends, whole(form.CallDuration) ?? null);
  return reply(ctx, []);
}
