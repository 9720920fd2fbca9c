import { expect } from '@jest/globals';
import { type Client, dataOf, type Loose } from './index.js';
import { eventually } from './live.js';

/** Imports made and read by a client, by this one where no other is named. */
export function importsBy(usual: () => Client) {
  const create = (body: object, who = usual()) => who.post('/imports', body);
  const made = async (body: object, who?: Client): Promise<Loose> => dataOf(await create(body, who));

  /** Processes an import and answers it when it is done. */
  async function processed({ id }: Loose, who = usual()): Promise<Loose> {
    const reply = await who.post(`/imports/${id}/process`);
    expect([reply.status, reply.body.data.status]).toEqual([202, 'processing']);
    await eventually(async () => dataOf(await who.get(`/imports/${id}`)).status === 'completed');
    return dataOf(await who.get(`/imports/${id}`));
  }

  return {
    create,
    made,
    processed,
    imported: async (body: object, who?: Client) => processed(await made(body, who), who),
    errorsOf: async ({ id }: Loose, who = usual()): Promise<Loose[]> => dataOf(await who.get(`/imports/${id}/errors`)).data,
    contactsOf: async ({ id }: Loose, who = usual()): Promise<Loose[]> =>
      dataOf(await who.get(`/contacts?import_id=${id}&per_page=200&sort=firstName&order=asc`)).data,
  };
}
