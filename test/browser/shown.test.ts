import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/live.js';
import { demo, onBoard, one } from './board.js';
import { holding, textOf } from './fields.js';
import { desktop } from './screen.js';

onBoard();

async function person(fields: object): Promise<string> {
  const make = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
  return (await demo.ask(make, { input: fields })).createContact.id;
}
const writes = (contactId: string, channel: 'sms' | 'email', body: string) =>
  demo.rest('POST', '/messages', { contactId, channel, direction: 'inbound', body, ...(channel === 'email' && { subject: 'Hi' }) });

describe('what somebody wrote', () => {
  it('is shown whole: a text message has no markup, and of an e-mail it is left out only where it is HTML', async () => {
    const id = await person({ firstName: 'Brackets', email: 'brackets@example.com', phone: '+14155550142' });
    await writes(id, 'email', '<p>As <b>agreed</b> &amp; signed,</p><style>p { color: red }</style><br>Ada');
    await writes(id, 'email', 'From Ada <ada@example.com>, 1 < 2');
    await writes(id, 'sms', 'I <3 you, call <Ada> if a<b and c>d');
    await one.visit(`/board/inbox/${id}`);
    await one.find('.talk li');
    const said = () => one.page.$$eval('.talk li p', (all) => all.map(({ textContent }) => textContent));
    await eventually(async () => (await said()).length === 3);
    expect(await said()).toEqual(['As agreed & signed, Ada', 'From Ada <ada@example.com>, 1 < 2', 'I <3 you, call <Ada> if a<b and c>d']);
    expect(await textOf(one, `[data-conversation="${id}"] .who small`)).toBe('I <3 you, call <Ada> if a<b and c>d');
  });

  it('has words in the inbox where a mail begins with more styles than are read there: its subject', async () => {
    const id = await person({ firstName: 'Styled', email: 'styled@example.com' });
    const styles = 'p { color: red } '.repeat(300);
    await writes(id, 'email', `<html><head><style>${styles}</style></head><body><p>Can you call me?</p></body></html>`);
    await one.visit(`/board/inbox/${id}`);
    await one.find('.talk li');
    expect(await textOf(one, '.talk li p')).toBe('Can you call me?');
    await one.find(`[data-conversation="${id}"]`);
    expect(await textOf(one, `[data-conversation="${id}"] .who small`)).toBe('Hi');
  });

  it.each(['<a', '<style>', '<!--', '<title', '<script></script'])('is there at once, however often it begins with %s', async (opened) => {
    const id = await person({ firstName: 'Unending', email: `unending${opened.length}@example.com` });
    await writes(id, 'email', `First<br>${opened.repeat(Math.floor(300_000 / opened.length))}`);
    await one.visit(`/board/inbox/${id}`);
    await one.find('.talk li');
    expect(await textOf(one, '.talk li p')).toBe('First');
  });

  it('has not been read while the tab is hidden, and has when it is seen', async () => {
    const id = await person({ firstName: 'Unseen', phone: '+14155550143' });
    await writes(id, 'sms', 'First');
    await one.visit(`/board/inbox/${id}`);
    const row = `[data-conversation="${id}"]`;
    await one.find(`${row}[data-unread="false"]`);
    const see = (state: string) =>
      one.page.evaluate((now) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await see('hidden');
    one.asked.splice(0);
    await writes(id, 'sms', 'Behind another tab');
    await one.find(`${row}[data-unread="true"]`);
    await one.says('Behind another tab');
    expect(one.asked).toEqual([]);
    await see('visible');
    await one.find(`${row}[data-unread="false"]`);
  });
});

describe('a conversation that is on the screen', () => {
  const readRow = (id: string) => `[data-conversation="${id}"][data-unread="false"]`;
  async function shown(firstName: string, phone: string): Promise<string> {
    const id = await person({ firstName, phone });
    await writes(id, 'sms', 'First');
    await one.visit(`/board/inbox/${id}`);
    await one.find(readRow(id));
    return id;
  }

  it('is read by a second try where the first one is lost', async () => {
    const id = await shown('Lost', '+14155550145');
    await holding(one, 'MarkRead', async (next) => {
      await writes(id, 'sms', 'Second');
      await (await next()).abort('connectionreset');
      await (await next()).continue();
      await one.find(readRow(id));
    });
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });

  it('is read where as many are unread as before, and they are others', async () => {
    const id = await shown('Others', '+14155550146');
    await holding(one, 'MarkRead', async (next) => {
      await writes(id, 'sms', 'Second');
      const held = await next();
      demo.line.refuse();
      try {
        await demo.ask('mutation ($id: ID!) { markConversationRead(contactId: $id) { contactId } }', { id });
        await writes(id, 'sms', 'Third');
      } finally {
        demo.line.heal();
      }
      await one.says('Third');
      await (await next()).continue();
      await one.find(readRow(id));
      await held.continue();
    });
    expect(demo.faults().filter((fault) => !/WebSocket connection to .* failed/.test(fault))).toEqual([]);
  });
});

describe('a write that does not arrive', () => {
  it('is told where a task is ticked', async () => {
    const id = await person({ firstName: 'Offline' });
    await demo.rest('POST', '/tasks', { contactId: id, title: 'Tick me' });
    await one.visit(`/board/contacts/${id}`);
    const box = await one.find('.small-list input[type=checkbox]');
    await holding(one, 'SetTask', async (next) => {
      await box.evaluate((element) => (element as HTMLElement).click());
      await (await next()).abort('connectionreset');
      await one.says('The server cannot be reached');
    });
    expect(await box.evaluate((element) => (element as HTMLInputElement).checked)).toBe(false);
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });
});

describe('each page', () => {
  it('has a title and one heading', async () => {
    const id = await person({ firstName: 'Ada', lastName: 'Heading', phone: '+14155550144' });
    await writes(id, 'sms', 'Hello');
    const told = async () => [await one.page.title(), await one.page.$$eval('h1', (all) => all.map(({ textContent }) => textContent))];
    const month = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric' });
    const monday = new Date();
    monday.setDate(monday.getDate() - ((monday.getDay() + 6) % 7));
    for (const [path, title, heading] of [
      ['', 'Deals', 'Deals'],
      ['/contacts', 'Contacts', 'Contacts'],
      [`/contacts/${id}`, 'Ada Heading', 'Ada Heading'],
      ['/inbox', 'Inbox', 'Inbox'],
      [`/inbox/${id}`, 'Ada Heading', 'Ada Heading'],
      ['/calendar', 'Calendar', month.format(monday)],
      ['/calls', 'Calls', 'Calls'],
    ] as const) {
      await one.visit(`/board${path}`);
      await eventually(async () => JSON.stringify(await told()) === JSON.stringify([title, [heading]])).catch(async () =>
        expect([path, await told()]).toEqual([path, [title, [heading]]]),
      );
    }
  });

  it('says that it is loading while there is no connection: the calendar', async () => {
    await one.visit('/board/contacts');
    await one.find('.people li');
    demo.line.refuse();
    try {
      await eventually(async () => (await textOf(one, '.line')) === 'Reconnecting');
      await (await one.find('nav a[href$="/calendar"]')).click();
      await one.find('.week');
      expect(await textOf(one, '.chips')).toBe('Loading');
    } finally {
      demo.line.heal();
    }
    await eventually(async () => (await textOf(one, '.chips')) !== 'Loading', 8000);
    expect(demo.faults().filter((fault) => !/WebSocket connection to .* failed/.test(fault))).toEqual([]);
  });
});

describe('the columns of the board', () => {
  it('show cents, and names without a break within a word', async () => {
    const { pipelines } = await demo.ask('{ pipelines(first: 1) { nodes { id stages { id } } } }');
    const [{ id: pipelineId, stages }] = pipelines.nodes;
    const rename = 'mutation ($id: ID!, $name: String!) { updateStage(id: $id, input: { name: $name }) { id } }';
    await demo.ask(rename, { id: stages[0].id, name: 'Negotiations' });
    await demo.ask(rename, { id: stages[1].id, name: 'Waiting for an electronic signature' });
    await demo.ask(rename, { id: stages[2].id, name: 'Rechtsschutzversicherungsgesellschaften' });
    const make = 'mutation ($input: CreateDealInput!) { createDeal(input: $input) { id } }';
    for (const [n, value] of [2.5, 1_234_567].entries()) {
      const input = { title: `Worth ${n}`, pipelineId, stageId: stages[0].id, value };
      await demo.ask(make, { input });
    }
    for (const viewport of [desktop, { width: 390, height: 844 }]) {
      await one.page.setViewport(viewport);
      await one.visit('/board');
      await one.says('$2.50');
      await one.says('$1,234,567');
      await one.says('Rechtsschutz');
      await one.picture(`columns-${viewport.width}`);
      // As many lines as words at most: a word that is broken takes one more.
      const lines = await one.page.$$eval('.column h2 b', (all) =>
        all.map((name) => {
          const range = document.createRange();
          range.selectNodeContents(name);
          const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          return [
            name.textContent,
            tops.size <= name.textContent.split(' ').length,
            name.parentElement!.scrollWidth <= name.parentElement!.clientWidth,
          ];
        }),
      );
      expect(lines.filter(([, isWhole, fits]) => !isWhole || !fits)).toEqual([]);
    }
    await one.page.setViewport(desktop);
  });
});

describe('the number of unread conversations on a phone', () => {
  it('covers no word', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => person({ firstName: `Unread ${n}`, phone: `+1415555${2000 + n}` })));
    for (const id of ids) await writes(id, 'sms', 'Hello');
    for (const width of [390, 320]) {
      await one.page.setViewport({ width, height: 844 });
      await one.visit('/board');
      await one.find('nav .count');
      for (const scheme of ['light', 'dark']) {
        await one.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await one.picture(`badge-${width}-${scheme}`);
      }
      const isClear = await one.page.evaluate(() => {
        const badge = document.querySelector('nav .count')!.getBoundingClientRect();
        return [...document.querySelectorAll('nav a')].every(({ firstChild }) => {
          const range = document.createRange();
          range.selectNode(firstChild!);
          const word = range.getBoundingClientRect();
          // The upper fifth of a line is above its letters.
          const isBeside = badge.right <= word.left || badge.left >= word.right;
          return isBeside || badge.bottom <= word.top + word.height / 5;
        });
      });
      expect([width, isClear]).toEqual([width, true]);
    }
    await one.page.setViewport(desktop);
  });
});

describe('a window that is low, as one that is zoomed is', () => {
  it('has room for what was said', async () => {
    const id = await person({ firstName: 'Low', phone: '+14155550147' });
    await writes(id, 'sms', 'All of this is to be read. '.repeat(40));
    for (const viewport of [
      { width: 320, height: 256 },
      { width: 1280, height: 300 },
    ]) {
      await one.page.setViewport(viewport);
      await one.visit(`/board/inbox/${id}`);
      await one.find('.talk li');
      expect(await one.page.$eval('.talk ol', (list) => list.clientHeight)).toBeGreaterThan(100);
    }
    await one.page.setViewport(desktop);
  });

  it('shows what has the focus, above its bars and below them', async () => {
    const id = await person({ firstName: 'Tabbed' });
    for (let n = 0; n < 30; n++) await demo.rest('POST', '/tasks', { contactId: id, title: `Task ${n}` });
    const { page } = one;
    await page.setViewport({ width: 320, height: 480 });
    await one.visit(`/board/contacts/${id}`);
    await one.find('.side label');
    await (await one.find('.back')).focus();
    /** What has the focus, and whether it is what one sees there. */
    const look = () =>
      page.evaluate(() => {
        const focused = document.activeElement!;
        const { left, top, width, height } = focused.getBoundingClientRect();
        const seen = document.elementFromPoint(left + width / 2, top + height / 2);
        return { what: focused.getAttribute('type') ?? focused.tagName, isSeen: focused.contains(seen), top };
      });
    const looks: Awaited<ReturnType<typeof look>>[] = [];
    const tab = async (times: number) => {
      for (let n = 0; n < times; n++) {
        await page.keyboard.press('Tab');
        looks.push(await look());
      }
    };
    await tab(34);
    expect(looks.at(-1)!.what).toBe('checkbox');
    await page.keyboard.down('Shift');
    await tab(34);
    await page.keyboard.up('Shift');
    expect(looks.at(-1)!.what).toBe('A');
    expect(looks.filter(({ isSeen }) => !isSeen)).toEqual([]);
    await page.setViewport(desktop);
  });
});
