import { expect } from '@jest/globals';
import twilio from 'twilio';
import type { App } from '../../src/kernel/context/context.js';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import type { PlacedCall, Transcript } from '../../src/vendors/sms/simulatedCalls.js';
import { type Account, dataOf, type Loose, type TestServer } from './index.js';

/** The simulator that calls and text messages go through. */
export const simulatorOf = ({ app }: { app: App }) => (app.vendors.sms as SimulatedSms).simulator;

export const entry = (next: string | null) => ({ id: 'in', kind: 'entry', next });
export const bye = { id: 'bye', kind: 'hangup' };
/** A graph that begins with the node `in`. */
export const graph = (...nodes: object[]) => ({ entryId: 'in', nodes });
/** A graph that leads through one node `x` to a hangup. */
export const through = (node: object) => graph(entry('x'), { id: 'x', next: 'bye', ...node }, bye);

export const createFlow = (account: Account, body: object = {}) => account.owner.post('/call-flows', { name: 'Front desk', ...body });
export const aFlow = async (account: Account, body: object = {}): Promise<Loose> => dataOf(await createFlow(account, body));
/** Publishes a flow as it was seen. */
export const publish = ({ owner }: Account, flow: Loose) =>
  owner.post(`/call-flows/${flow.id}/publish`, { expectedUpdatedAt: flow.updatedAt });

/** A flow that is published on a number. */
export async function publishedOn(phoneNumber: string, draftGraph: object, account: Account): Promise<Loose> {
  const flow = dataOf(await publish(account, await aFlow(account, { phoneNumber, draftGraph })));
  expect(flow.wiring).toMatchObject({ wired: true });
  return flow;
}

/** A member with a phone, who takes calls unless told otherwise. */
export async function anAgent(account: Account, phone: string, presence = 'on') {
  const member = await account.member();
  dataOf(await member.put('/call-flows/presence', { presence, phone }));
  return { userId: member.userId, phone, member };
}

let callers = 0;
export const nextCaller = () => `+1415888${String(++callers).padStart(4, '0')}`;

/** Places a call over the simulator's HTTP. */
export async function placeCall(api: TestServer, to: string, placed: Partial<PlacedCall> = {}): Promise<Transcript> {
  const { apiBase } = await simulatorOf(api).config();
  const body = JSON.stringify({ from: nextCaller(), to, through: `http://127.0.0.1:${api.wire.port}`, ...placed });
  const reply = await fetch(`${apiBase}/simulator/calls`, { method: 'POST', body });
  expect(reply.status).toBe(200);
  return (await reply.json()) as Transcript;
}

/** Whom a call rang, turn by turn. */
export const dials = ({ log }: Transcript) => log.flatMap(({ dial }) => (dial ? [dial as string[]] : []));

/** A notice of the vendor about a call, signed as it signs unless told otherwise. */
export async function voiceNotice(api: TestServer, path: string, form: Record<string, string>, signature?: string) {
  const { authToken } = await simulatorOf(api).config();
  const signed = signature ?? twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signed };
  return api.anybody().raw({ method: 'POST', path, headers, payload: new URLSearchParams(form).toString() });
}

/** Where an address of ours in a document leads. */
export const pathOf = ({ app }: TestServer, address: string) => address.replaceAll('&amp;', '&').slice(app.config.publicUrl.length);

/** The entry of the log of a call of the vendor. */
export const loggedCall = async ({ app }: TestServer, { id: accountId }: Account, sid: string): Promise<Loose> =>
  (await app.database.prisma.call.findFirstOrThrow({ where: { accountId, providerId: sid } })) as Loose;
