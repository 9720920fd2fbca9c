import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP, URI } from 'otpauth';
import type { HTTPRequest } from 'puppeteer-core';
import { Demo } from './demo.js';
import { fill, holding, textOf } from './fields.js';
import { desktop, phone, type Screen } from './screen.js';

let demo: Demo;
beforeAll(async () => {
  demo = await Demo.start();
});
afterAll(() => demo.end());

/** Every play ends without an error in a console, of the policy or of ours; those that it expects it has taken. */
afterEach(() => {
  expect(demo.faults()).toEqual([]);
});

const codeOf = (secret: string, timestamp = Date.now()) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

describe('the start page', () => {
  it('asks for a login only those who have none, and an address without a page leads back', async () => {
    const somebody = await demo.tab(true);
    await somebody.visit('/');
    await somebody.find('[data-guest]:not([hidden]) form');
    await demo.login(somebody);
    await somebody.find('[data-deal]');
    await somebody.visit('/');
    await somebody.find('[data-member]:not([hidden])');
    expect(await somebody.page.$$eval('[data-guest]', (parts) => parts.map((part) => part.checkVisibility()))).toEqual([false]);
    await somebody.visit('/board/nothing');
    await (await somebody.find('a[href="/board"]')).click();
    await somebody.find('[data-deal]');
    // Its session ends with the others of this person, in another test.
    await somebody.page.close();
    expect(demo.faults().filter((fault) => !/status of 40[14]/.test(fault))).toEqual([]);
  });
});

/** An answer in the place of the server's. */
const answerOf = (status: number, body: object) => ({
  status,
  headers: { 'Retry-After': '7' },
  contentType: 'application/json',
  body: JSON.stringify(body),
});
const tooMany = answerOf(429, { error: 'Too many requests', code: 'rate_limited' });

describe('who is logged in, on the start page', () => {
  it('is told to be unknown where the answer does not tell', async () => {
    const somebody = await demo.tab(true);
    await somebody.visit('/');
    await somebody.find('.who a');
    await holding(somebody, '/auth/me', async (next) => {
      await somebody.visit('/');
      await (await next()).respond(tooMany);
      await somebody.says('It is not known who is logged in. Too many at once: try again in 7 s.');
    });
    expect(await somebody.page.$$eval('.who a, .who button', (all) => all.length)).toBe(0);
    expect(demo.faults().filter((fault) => !/status of 4(01|29)/.test(fault))).toEqual([]);
  });

  it('stays logged in where a logout does not arrive, is told so, and can try again', async () => {
    const somebody = await demo.tab(true);
    await demo.login(somebody);
    await somebody.find('[data-deal]');
    await somebody.visit('/');
    await somebody.find('[data-member]:not([hidden])');
    await holding(somebody, '/auth/logout', async (next) => {
      await somebody.press('Log out');
      await (await next()).respond(tooMany);
      await somebody.says('Too many at once: try again in 7 s.');
      await somebody.press('Log out');
      await (await next()).abort('connectionreset');
      await somebody.says('The server cannot be reached: try again.');
    });
    expect(await textOf(somebody, '.who [role=alert]')).toBe('The server cannot be reached: try again.');
    await somebody.press('Log out');
    await somebody.find('.who a');
    expect(demo.faults().filter((fault) => !/status of 4(01|29)|ERR_CONNECTION_RESET/.test(fault))).toEqual([]);
  });
});

describe('the login of the start page', () => {
  const path = (request: HTTPRequest) => new URL(request.url()).pathname.replace('/api/v1', '');

  /** The form, filled in, in a browser without a session. */
  async function filledIn(): Promise<Screen> {
    const somebody = await demo.tab(true);
    await somebody.visit('/');
    await somebody.find('.who a');
    await fill(somebody, 'input[name=email]', 'ada@example.com');
    await fill(somebody, 'input[name=password]', 'a password of hers');
    return somebody;
  }

  it('says where nothing was reached, and where the browser kept no session', async () => {
    const somebody = await filledIn();
    await holding(somebody, '/auth/login', async (next) => {
      await somebody.press('Log in');
      await (await next()).abort('connectionreset');
      await somebody.says('The server cannot be reached: try again.');
      await somebody.press('Log in');
      await (await next()).respond(answerOf(200, { data: { mfaToken: null } }));
      await somebody.says('This browser kept no session: over plain http it does so at localhost or 127.0.0.1 alone.');
    });
    expect(demo.faults().filter((fault) => !/status of 401|ERR_CONNECTION_RESET/.test(fault))).toEqual([]);
  });

  it('begins with the password again where the second step is refused, and takes a recovery code', async () => {
    const somebody = await filledIn();
    const sent: [string, string | undefined][] = [];
    await holding(somebody, '/auth/', async (next) => {
      const answer = async (status: number, body: object) => {
        const request = await next();
        sent.push([path(request), request.postData()]);
        await request.respond(answerOf(status, body));
      };
      await somebody.press('Log in');
      await answer(200, { data: { mfaToken: 'first' } });
      await somebody.says('Type the code of your authenticator, or a recovery code.');
      await fill(somebody, 'input[name=code]', '123456');
      await somebody.press('Log in');
      await answer(401, { error: 'The code or the token is wrong or expired', code: 'unauthenticated' });
      await somebody.says('The code or the token is wrong or expired');
      await fill(somebody, 'input[name=code]', 'aaaa-bbbb-cccc-dddd');
      await somebody.press('Log in');
      await answer(200, { data: { mfaToken: 'second' } });
      await answer(200, { data: { mfaToken: null } });
      await answer(429, { error: 'Too many requests', code: 'rate_limited' });
      await somebody.says('You are logged in, but this page cannot show it. Too many at once: try again in 7 s.');
    });
    const password = ['/auth/login', '{"email":"ada@example.com","password":"a password of hers"}'];
    const codes = ['{"mfaToken":"first","code":"123456"}', '{"mfaToken":"second","recoveryCode":"aaaa-bbbb-cccc-dddd"}'];
    const [first, second] = codes.map((body) => ['/auth/mfa/verify', body]);
    expect(sent).toEqual([password, first, password, second, ['/auth/me', undefined]]);
    expect(demo.faults().filter((fault) => !/status of 4(01|29)/.test(fault))).toEqual([]);
  });
});

describe('a second factor that a role must have', () => {
  it('is set up before the board is shown, by a QR code or by hand', async () => {
    const { person, demandFactor } = await demo.ownerWithoutFactor('somebody');
    await demandFactor();
    const somebody = await demo.tab(true);
    const { page } = somebody;
    await demo.login(somebody, person);
    await somebody.find('.qr');
    const secret = (await page.$eval('.secret', (code) => code.textContent!)).replaceAll(' ', '');
    expect(URI.parse(await somebody.read('.qr'))).toMatchObject({ secret: { base32: secret }, label: person.email });

    // Whoever comes back has a session, which is good for nothing else; now the password is asked for.
    await somebody.visit('/board/contacts');
    await (await somebody.find('input[name=password]')).type(`${person.password}\n`);
    await somebody.find('.qr');
    const renewed = (await page.$eval('.secret', (code) => code.textContent!)).replaceAll(' ', '');
    expect(renewed).not.toBe(secret);
    // Becoming a phone, with touch and all, would load the page anew.
    for (const [name, width] of Object.entries({ desktop: desktop.width, phone: phone.width })) {
      await page.setViewport({ ...desktop, width });
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await somebody.picture(`enrolment-${name}-${scheme}`);
        expect((await somebody.read('.qr')).includes(renewed)).toBe(true);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
    await (await somebody.find('input[name=code]')).type(`${codeOf(renewed)}\n`);
    await somebody.find('.codes');
    await somebody.picture('recovery-codes');
    const codes = await page.$$eval('.codes code', (all) => all.map((code) => code.textContent!));
    expect([codes.length, new Set(codes).size]).toEqual([10, 10]);
    await page.keyboard.press('Enter');
    await somebody.find('input[type=search]');

    await somebody.press('Log out');
    await somebody.find('input[name=email]');
    await demo.login(somebody, person);
    await somebody.press('Use a recovery code');
    await (await somebody.find('input[name=code][inputmode=text]')).type(`${codes[0]}\n`);
    await somebody.find('header nav');
    // Whether there is a session the page finds out by asking: at first, after logging out, and when it is visited then.
    expect(demo.faults().filter((fault) => !fault.includes('status of 401'))).toEqual([]);
  });
});

describe('a board that is open', () => {
  it('leads to the second factor when it becomes a duty, and to the login when the session ends', async () => {
    const { person, demandFactor } = await demo.ownerWithoutFactor('surprised');
    const somebody = await demo.tab(true);
    await demo.login(somebody, person);
    await somebody.find('.line[data-up=true]');
    await demandFactor();
    await (await somebody.find('.login input[name=password]')).type(`${person.password}\n`);
    await somebody.find('.qr');
    const { page } = somebody;
    const secret = (await page.$eval('.secret', (code) => code.textContent!)).replaceAll(' ', '');
    await (await somebody.find('input[name=code]')).type(`${codeOf(secret)}\n`);
    await somebody.find('.codes');
    await page.keyboard.press('Enter');
    await somebody.find('.line[data-up=true]');

    const cookie = (await page.browserContext().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
    await demo.rest('POST', '/auth/logout', {}, { cookie });
    await somebody.find('input[name=email]');
    const isOfUs = (fault: string) => !/status of 40[13]/.test(fault) && !/WebSocket connection to .* failed/.test(fault);
    expect(demo.faults().filter(isOfUs)).toEqual([]);
  });
});

describe('somebody else who logs in in another tab', () => {
  it('is who is logged in in all tabs: none goes on with what was open, and writes into what is not shown', async () => {
    const { person } = await demo.ownerWithoutFactor('before');
    const first = await demo.tab(true);
    await first.visit('/board');
    const second = await demo.beside(first);
    await second.visit('/board');
    const password = await second.find('input[name=password]');
    await demo.login(first, person);
    await first.says('Create a pipeline');
    expect(await textOf(first, 'header strong')).toBe('Theirs');
    await password.type(`${demo.secret('demo.password')}\n`);
    await second.find('[data-deal]');
    await first.find('[data-deal]');
    expect(await textOf(first, 'header strong')).toBe(await textOf(second, 'header strong'));
    await first.press('Log out');
    for (const screen of [first, second]) await screen.find('input[name=email]');
    expect(demo.faults().filter((fault) => !/status of 40[13]|WebSocket connection to .* failed/.test(fault))).toEqual([]);
  });
});

describe('logging out', () => {
  it('is told where it does not arrive, and can be tried again', async () => {
    const somebody = await demo.tab(true);
    await demo.login(somebody);
    await somebody.find('.line[data-up=true]');
    await holding(somebody, 'Logout', async (next) => {
      await somebody.press('Log out');
      await (await next()).abort('connectionreset');
      await somebody.find('header [role=alert]');
    });
    expect(await textOf(somebody, 'header [role=alert]')).toBe('The server cannot be reached: try again.');
    await somebody.picture('logout-fault');
    await somebody.press('Log out');
    await somebody.find('input[name=email]');
    expect(demo.faults().filter((fault) => !/status of 401|ERR_CONNECTION_RESET/.test(fault))).toEqual([]);
  });
});

describe('logging out instead of setting up a second factor', () => {
  it('is told where it does not arrive, and can be tried again', async () => {
    const { person, demandFactor } = await demo.ownerWithoutFactor('leaver');
    await demandFactor();
    const somebody = await demo.tab(true);
    await demo.login(somebody, person);
    await somebody.find('.qr');
    await holding(somebody, 'Logout', async (next) => {
      await somebody.press('Log out');
      await (await next()).abort('connectionreset');
      await somebody.find('.login [role=alert]');
    });
    expect(await textOf(somebody, '.login [role=alert]')).toBe('The server cannot be reached: try again.');
    await somebody.press('Log out');
    await somebody.find('input[name=email]');
    expect(demo.faults().filter((fault) => !/status of 40[13]|ERR_CONNECTION_RESET/.test(fault))).toEqual([]);
  });
});

describe('a second factor', () => {
  it('is asked for after the password', async () => {
    const secret = await demo.secondFactor(codeOf);
    const somebody = await demo.tab(true);
    await demo.login(somebody);
    const field = await somebody.find('input[name=code]');
    // The code that set it up is used; the next one is accepted ahead of its time.
    await field.type(codeOf(secret, Date.now() + 30_000));
    await somebody.picture('second-factor');
    await somebody.page.keyboard.press('Enter');
    await somebody.find('[data-deal]');
    expect(demo.faults()).toEqual([expect.stringContaining('status of 401')]);
  });
});
