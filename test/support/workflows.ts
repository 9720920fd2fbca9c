import { type Account, dataOf, type Loose } from './index.js';
import { eventually } from './live.js';

/** Makes a workflow and activates it. */
export async function activeWorkflow(account: Account, fields: Loose): Promise<Loose> {
  const { id } = dataOf(await account.owner.post('/workflows', { name: 'W', ...fields }));
  return dataOf(await account.owner.post(`/workflows/${id}/activate`, {}));
}

/** The runs of a workflow, the newest first. */
export const runsOf = async (account: Account, { id }: Loose): Promise<Loose[]> =>
  dataOf(await account.owner.get(`/workflows/${id}/runs?per_page=200`)).data;

/** The same once there are so many and none is under way. */
export const endedRuns = (account: Account, workflow: Loose, n = 1): Promise<Loose[]> =>
  eventually(async () => {
    const runs = await runsOf(account, workflow);
    return (runs.length >= n && runs.every(({ status }) => status !== 'running') && runs) as Loose[];
  });

/** Why a run did what it did. */
export const whyRun = async (account: Account, { id, workflowId }: Loose): Promise<Loose> =>
  dataOf(await account.owner.get(`/workflows/${workflowId}/runs/${id}/explain`));
