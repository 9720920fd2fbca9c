import { describe, expect, it } from '@jest/globals';
import { createRest, once } from '../../src/client/index.js';
import { eventually } from '../support/live.js';

describe('a request that is given up while the client waits', () => {
  const refused = () => new Response('{}', { status: 429, headers: { 'Retry-After': '29' } });
  const running = () => new Response('{"error":"It still runs","code":"send_in_progress"}', { status: 409 });

  it.each([
    ['until there is room', refused],
    ['until its first try is done', running],
  ])('rejects with the reason, and is not sent again: %s', async (_until, answer) => {
    const left = new AbortController();
    let sent = 0;
    const fetch = async () => {
      sent++;
      return answer();
    };
    const rest = createRest({ url: 'http://nowhere', fetch });
    const asked = rest.POST('/contacts', { body: { firstName: 'Left' }, headers: once(), signal: left.signal });
    await eventually(() => sent > 0);
    const begun = Date.now();
    left.abort(new Error('Nobody waits'));
    await expect(asked).rejects.toThrow('Nobody waits');
    const sentUntilThen = sent;
    expect(Date.now() - begun).toBeLessThan(3000);
    await new Promise((resume) => setTimeout(resume, 300));
    expect(sent).toBe(sentUntilThen);
  });

  it('rejects at once where it is given up as it is refused', async () => {
    const left = new AbortController();
    const fetch = async () => {
      left.abort(new Error('Nobody waits'));
      return refused();
    };
    await expect(createRest({ url: 'http://nowhere', fetch }).GET('/contacts', { signal: left.signal })).rejects.toThrow('Nobody waits');
  });
});
