import type { App } from '../../src/kernel/context/context.js';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { type Account, dataOf, type Loose } from './index.js';

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
