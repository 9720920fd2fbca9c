import type { Running } from './process.js';

/** An account of a server that runs, and the headers of its key. */
export interface Account {
  id: string;
  headers: Record<string, string>;
}

/** Sends JSON; what is answered. Throws for an error. */
export const send = async (url: string, body: object, headers: object = {}) => {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${text}`);
  return { data: JSON.parse(text).data, cookie: (reply.headers.get('set-cookie') ?? '').split(';')[0]! };
};

/** Makes an account with a key of all rights. */
export async function account({ url }: Running, name: string): Promise<Account> {
  const person = { email: `${name}@example.com`, password: 'correct horse battery', accountName: name };
  const { cookie } = await send(`${url}/api/v1/auth/register`, person);
  const { data } = await send(`${url}/api/v1/api-keys`, { name, permission: 'admin' }, { cookie, origin: url });
  const headers = { authorization: `Bearer ${data.key}` };
  const reply = await fetch(`${url}/api/v1/api-keys/check`, { headers });
  const { data: checked } = (await reply.json()) as { data: { workspace: { id: string } } };
  return { id: checked.workspace.id, headers };
}

/** SQL statements that a server has sent so far. */
export async function statements({ url }: Running): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^db_queries_total(?:\{[^}]*\})? (\S+)$/m.exec(text)![1]);
}
