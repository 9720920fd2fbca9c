import { describe, expect, test } from '@jest/globals';
import { v4 } from 'uuid';
import { unavailable } from '../../src/kernel/base/errors.js';
import type { Context } from '../../src/kernel/context/context.js';
import { addressee } from '../../src/modules/messages/message.service.js';

const reading = (rows: () => Promise<object[]>) => ({ rows }) as unknown as Context;

const nobody = { status: 400, field: 'contactId', details: [expect.objectContaining({ code: 'not_found' })] };

describe('whom a message is to go to', () => {
  test('is nobody where there is no such contact', async () => {
    await expect(
      addressee(
        reading(async () => []),
        v4(),
      ),
    ).rejects.toMatchObject(nobody);
    await expect(
      addressee(
        reading(async () => []),
        'no id',
      ),
    ).rejects.toMatchObject(nobody);
  });

  test('is not known where the read fails, which is no fault of who asks', async () => {
    const down = unavailable();
    await expect(
      addressee(
        reading(() => Promise.reject(down)),
        v4(),
      ),
    ).rejects.toBe(down);
    const bug = new TypeError('not a function');
    await expect(
      addressee(
        reading(() => Promise.reject(bug)),
        v4(),
      ),
    ).rejects.toBe(bug);
  });
});
