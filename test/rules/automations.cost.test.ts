import { describe, expect, it } from '@jest/globals';
import { aNode, aTask } from '../support/automations.js';
import { api, automations, served } from '../support/automationsServed.js';

served();

describe('a run of an automation', () => {
  it('looks for no record that may have an id which the server has made: only ids that clients choose are looked for', async () => {
    // What is looked for goes through all types of records.
    await api.app.database.execute(`create or replace function id_is_free(free boolean) returns text language plpgsql as
      'begin raise exception ''An id is looked for''; end'`);
    const field = aNode('field', 'action', { type: 'update_field', config: { field: 'jobTitle', value: 'Customer' } }, 'hook');
    const hook = aNode('hook', 'action', { type: 'send_webhook', config: { url: 'https://example.com/' } }, 'wait');
    const wait = aNode('wait', 'wait', { event: 'contact.updated', timeout: { days: 1 } });
    const run = await automations.begin([aTask('task', 'field'), field, hook, wait]);
    await automations.until(run, 'waiting', 'failed');
    expect(await automations.path(run)).toEqual(['task completed', 'field completed', 'hook completed', 'wait waiting']);
  });
});
