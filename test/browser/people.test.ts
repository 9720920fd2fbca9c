import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/live.js';
import { Demo } from './demo.js';
import { fill, focused, holding, spoken, textOf, written } from './fields.js';
import { desktop, type Screen } from './screen.js';

let demo: Demo;
let one: Screen;
let other: Screen;
beforeAll(async () => {
  demo = await Demo.start();
  one = await demo.tab();
  other = await demo.tab();
  await demo.login(one);
  await one.find('[data-deal]');
  demo.faults();
});
afterAll(() => demo.end());
afterEach(() => {
  expect(demo.faults()).toEqual([]);
});

/** As wide as a phone; one that is touched would load the page anew. */
const narrow = { width: 390, height: 844 };

async function person(fields: object): Promise<string> {
  const { createContact } = await demo.ask('mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }', {
    input: fields,
  });
  return createContact.id;
}

/** As by keys pressed faster than the browser tells of the closed dialog. */
const reopenedAtOnce = () =>
  one.page.evaluate(() => {
    document.querySelector('dialog')!.close();
    document.querySelector<HTMLElement>(':focus')!.click();
  });

describe('a new contact', () => {
  it('is made by keys alone, and shown at once in the list of another tab', async () => {
    await other.visit('/board/contacts');
    await other.find('.people a');
    await one.visit('/board/contacts');
    await one.find('.people a');
    await one.page.keyboard.press('Tab');
    expect(await focused(one)).toBe('New contact');
    await one.page.keyboard.press('Enter');
    await one.find('dialog[open]');
    expect(await focused(one)).toBe('firstName');
    await one.page.keyboard.press('Escape');
    await eventually(async () => (await focused(one)) === 'New contact');
    await one.page.keyboard.press('Enter');
    await one.find('dialog[open]');
    await reopenedAtOnce();
    await one.find('dialog[open]');
    expect(await focused(one)).toBe('firstName');
    await one.page.keyboard.type('Grace');
    await one.page.keyboard.press('Tab');
    await one.page.keyboard.type('Hopper');
    await one.page.keyboard.press('Enter');
    await eventually(async () => (await textOf(one, 'h1').catch(() => '')) === 'Grace Hopper', 5000);
    await other.says('Grace Hopper');
  });

  it('is refused at the fields that are to blame', async () => {
    await one.visit('/board/contacts');
    await one.press('New contact');
    await (await one.find('dialog button[type=submit]')).click();
    await one.says('First name or lastName, email or phone is required');
    await fill(one, 'dialog [name=email]', 'nobody');
    await fill(one, 'dialog [name=phone]', 'no number');
    await one.picture('new-contact');
    await one.page.keyboard.press('Enter');
    await one.find('dialog [name=email][aria-invalid=true]');
    expect(await focused(one)).toBe('email');
    expect(await spoken(one)).toEqual({ name: 'E-mail', invalid: 'true', description: 'E-mail must be an e-mail address' });
    expect(await textOf(one, 'dialog')).toContain('Phone must be a phone number');
    for (const [viewport, scheme] of [
      [desktop, 'light'],
      [narrow, 'dark'],
    ] as const) {
      await one.page.setViewport(viewport);
      await one.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await one.picture(`new-contact-refused-${scheme}`);
    }
    await one.page.setViewport(desktop);
    await fill(one, 'dialog [name=phone]', '');
    await fill(one, 'dialog [name=email]', 'nobody@example.com');
    await one.page.keyboard.press('Enter');
    await eventually(async () => (await textOf(one, 'h1').catch(() => '')) === 'nobody@example.com', 5000);
  });
});

describe('a new contact whose answer was lost', () => {
  it('is made once where the button is pressed again', async () => {
    await one.visit('/board/contacts');
    await holding(one, 'CreateContact', async (next) => {
      await one.press('New contact');
      await fill(one, 'dialog [name=lastName]', 'Madeonce');
      await one.press('Create contact');
      const first = await next();
      await first.abort('connectionreset');
      await one.find('dialog .fault');
      await one.press('Create contact');
      const second = await next();
      expect(first.headers()['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
      expect(second.headers()['idempotency-key']).toBe(first.headers()['idempotency-key']);
      await second.abort('connectionreset');
      await one.find('dialog button:not([disabled])');
      await fill(one, 'dialog [name=company]', 'Theirs');
      await one.press('Create contact');
      const third = await next();
      expect(third.headers()['idempotency-key']).not.toBe(first.headers()['idempotency-key']);
      await third.continue();
      await eventually(async () => (await textOf(one, 'h1').catch(() => '')) === 'Madeonce', 5000);
    });
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });
});

describe('what is written about a contact whose answer was lost', () => {
  it('is kept once where it is sent again: a task and a note', async () => {
    const id = await person({ firstName: 'Twice' });
    await one.visit(`/board/contacts/${id}`);
    for (const [operation, label] of [
      ['AddTask', 'Add a task'],
      ['AddNote', 'Add a note'],
    ] as const) {
      await holding(one, operation, async (next) => {
        await fill(one, `input[aria-label="${label}"]`, 'Only once');
        await one.page.keyboard.press('Enter');
        const first = await next();
        await first.abort('connectionreset');
        await one.find('.side .fault');
        await one.page.keyboard.press('Enter');
        const second = await next();
        expect(first.headers()['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
        expect(second.headers()['idempotency-key']).toBe(first.headers()['idempotency-key']);
        await second.continue();
        await eventually(async () => (await written(one, `input[aria-label="${label}"]`)) === '');
      });
    }
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });

  it('is an appointment that is booked once, though Enter is pressed twice', async () => {
    await one.visit('/board/calendar');
    await one.find('.book');
    await one.page.$eval('.book input[name=at]', (field) => {
      (field as HTMLInputElement).value = '2031-03-04T10:00';
    });
    await holding(one, 'AddAppointment', async (next) => {
      await fill(one, '.book input[name=title]', 'Booked once');
      for (let n = 0; n < 2; n++) await one.page.keyboard.press('Enter');
      await (await next()).abort('connectionreset');
      await one.find('.book .fault');
      await one.page.keyboard.press('Enter');
      const again = await next();
      expect(again.headers()['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
      await again.continue();
      await eventually(async () => (await written(one, '.book input[name=title]')) === '');
    });
    expect(await one.page.$('.book .fault')).toBeNull();
    const { appointments } = await demo.ask('{ appointments(where: { title: { eq: "Booked once" } }) { totalCount } }');
    expect(appointments.totalCount).toBe(1);
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });
});

describe('a contact that is edited where it stands', () => {
  it('shows what was written before the server has answered, and then in the other tab', async () => {
    const id = await person({ firstName: 'Ada', lastName: 'Byron', company: 'Analytical' });
    for (const screen of [one, other]) await screen.visit(`/board/contacts/${id}`);
    await other.find('.who-box h1');
    await holding(one, 'SetContact', async (next) => {
      await fill(one, '.lines [name=lastName]', 'Lovelace');
      await one.page.keyboard.press('Enter');
      const sent = await next();
      expect(await textOf(one, '.who-box h1')).toBe('Ada Lovelace');
      expect(await textOf(other, '.who-box h1')).toBe('Ada Byron');
      expect(await focused(one)).toBe('lastName');
      await sent.continue();
      await eventually(async () => (await textOf(other, '.who-box h1')) === 'Ada Lovelace', 5000);
      // Leaving a field keeps it, Escape does not.
      await fill(one, '.lines [name=company]', '');
      await one.page.keyboard.press('Tab');
      await (await next()).continue();
      await eventually(async () => (await written(other, '.lines [name=company]')) === '', 5000);
      await fill(one, '.lines [name=jobTitle]', 'Countess');
      await one.page.keyboard.press('Escape');
      expect(await written(one, '.lines [name=jobTitle]')).toBe('');
    });
    const { contact } = await demo.ask('query ($id: ID!) { contact(id: $id) { name company jobTitle } }', { id });
    expect(contact).toEqual({ name: 'Ada Lovelace', company: null, jobTitle: null });
  });

  it('tells what is refused at its field, which keeps what was written and is shown as it was', async () => {
    const id = await person({ phone: '+14155550177', email: 'refused@example.com' });
    await one.visit(`/board/contacts/${id}`);
    await one.find('.who-box h1');
    await holding(one, 'SetContact', async (next) => {
      await fill(one, '.lines [name=email]', 'no address');
      await one.page.keyboard.press('Enter');
      const sent = await next();
      expect(await textOf(one, '.who-box h1')).toBe('no address');
      await sent.continue();
      await one.find('.lines [name=email][aria-invalid=true]');
      expect(await textOf(one, '.who-box h1')).toBe('refused@example.com');
      expect(await written(one, '.lines [name=email]')).toBe('no address');
      expect(await spoken(one)).toEqual({ name: 'E-mail', invalid: 'true', description: 'E-mail must be an e-mail address' });
      await one.picture('contact-refused');
      await one.page.keyboard.press('Escape');
      expect(await written(one, '.lines [name=email]')).toBe('refused@example.com');
      expect(await one.page.$('.lines .fault')).toBeNull();
      await fill(one, '.lines [name=phone]', '+1 415 555 0188');
      await one.page.keyboard.press('Enter');
      await (await next()).continue();
      await eventually(async () => (await written(one, '.lines [name=phone]')) === '+14155550188', 5000);
    });
  });
});

describe('an e-mail', () => {
  it('is written where the contact has an address, and its faults are told at its fields', async () => {
    const id = await person({ firstName: 'Mail', email: 'mail@example.com' });
    await one.visit(`/board/contacts/${id}`);
    await one.find('.mail');
    expect(await one.page.$('input[aria-label="Write a text message"]')).toBeNull();
    await one.press('Send e-mail');
    await one.find('.mail [name=subject][aria-invalid=true]');
    expect(await focused(one)).toBe('subject');
    await one.page.keyboard.type('The offer');
    await one.page.keyboard.press('Tab');
    await one.page.keyboard.type('Here it is.\nAs agreed.');
    await one.page.keyboard.press('Tab');
    await one.page.keyboard.press('Enter');
    await one.find('.talk [data-from="outbound"]');
    await one.says('· sent');
    expect([await written(one, '.mail [name=subject]'), await written(one, '.mail textarea')]).toEqual(['', '']);
    const { messages } = await demo.ask('query ($id: ID!) { messages(filter: { contactId: $id }) { nodes { channel subject body } } }', {
      id,
    });
    expect(messages.nodes).toEqual([{ channel: 'email', subject: 'The offer', body: 'Here it is.\nAs agreed.' }]);
  });

  it('is answered from the conversation, and sent once where its answer was lost', async () => {
    const id = await person({ firstName: 'Both', email: 'both@example.com', phone: '+14155550199' });
    await one.visit(`/board/inbox/${id}`);
    await one.find('input[aria-label="Write a text message"]');
    const inbound = { contactId: id, channel: 'email', direction: 'inbound', subject: 'A question', body: 'When?' };
    await demo.rest('POST', '/messages', inbound);
    await one.press('Answer');
    await one.find('.ways [aria-pressed=true]');
    expect([await focused(one), await written(one, '.mail [name=subject]')]).toEqual(['body', 'Re: A question']);
    await holding(one, 'SendEmail', async (next) => {
      await one.page.keyboard.type('Tomorrow.');
      // To a text message and back: what was begun is still there.
      await one.press('Text message');
      await one.press('E-mail');
      await one.picture('answer');
      await one.press('Send e-mail');
      const first = await next();
      await first.abort('connectionreset');
      await one.find('.mail .fault');
      await one.press('Send e-mail');
      const second = await next();
      expect(second.headers()['idempotency-key']).toBe(first.headers()['idempotency-key']);
      await second.continue();
      await one.says('· sent');
    });
    const { messages } = await demo.ask('query ($id: ID!) { messages(filter: { contactId: $id }) { nodes { direction subject body } } }', {
      id,
    });
    expect(messages.nodes[0]).toEqual({ direction: 'outbound', subject: 'Re: A question', body: 'Tomorrow.' });
    expect(messages.nodes).toHaveLength(2);
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });
});

describe('no e-mail', () => {
  it('is offered to those who must not be contacted', async () => {
    const id = await person({ firstName: 'Quiet', email: 'quiet@example.com', phone: '+14155550166', doNotContact: true });
    await one.visit(`/board/contacts/${id}`);
    await one.says('There is no way to write to them');
    expect(await one.page.$('.mail, input[aria-label="Write a text message"]')).toBeNull();
  });
});
