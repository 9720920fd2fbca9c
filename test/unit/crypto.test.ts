import { systemClock } from '../../src/kernel/base/clock.js';
import { readConfig } from '../../src/kernel/base/config.js';
import { isOneOf, seal, sealOf, sign, signatures, Unreadable, unseal } from '../../src/kernel/base/crypto.js';

const [first, second, third] = [
  'the first key, which was in use before',
  'the second key, which is in use by now',
  'a third key that nobody has said',
];
const app = (secretKey: string, ...previousSecretKeys: string[]) => ({ config: { secretKey, previousSecretKeys }, clock: systemClock });

describe('what is sealed', () => {
  it('opens with its key, in its place, unchanged, and in no other way', () => {
    const sealed = seal(app(first), 'mfa', 'a.place', 'a secret');
    expect(sealed).not.toContain('secret');
    expect(unseal(app(first), 'mfa', 'a.place', sealed)).toBe('a secret');
    const [version, nonce, body, tag] = sealed.split('.') as [string, string, string, string];
    const changed = [version, nonce, `${body.startsWith('A') ? 'B' : 'A'}${body.slice(1)}`, tag].join('.');
    expect(() => unseal(app(first), 'mfa', 'a.place', changed)).toThrow(Unreadable);
    expect(() => unseal(app(first), 'mfa', 'another', sealed)).toThrow(Unreadable);
    expect(() => unseal(app(first), 'webhooks', 'a.place', sealed)).toThrow(Unreadable);
    expect(() => unseal(app(second), 'mfa', 'a.place', sealed)).toThrow(Unreadable);
  });

  it('opens after its key was replaced, as long as the server knows that one', () => {
    const sealed = seal(app(first, third), 'mfa', 'a.place', 'a secret');
    expect(unseal(app(second, third, first), 'mfa', 'a.place', sealed)).toBe('a secret');
    expect(unseal(app(first), 'mfa', 'a.place', sealed)).toBe('a secret');
    expect(sealed.startsWith(sealOf(app(first)))).toBe(true);
    expect(sealed.startsWith(sealOf(app(second)))).toBe(false);
    expect(sealOf(app(first))).not.toContain(first.slice(0, 4));
  });

  it('opens where the version before sealed it, which did not name its key', () => {
    const sealed = 'v1.BwcHBwcHBwcHBwcH.G_QCDFYPDBgSC2NiuAQ.Dp4HoYkRkVgCv6BGxZP_xg';
    expect(unseal(app(first), 'mfa', 'a.place', sealed)).toBe('kept for years');
    expect(unseal(app(second, third, first), 'mfa', 'a.place', sealed)).toBe('kept for years');
    expect(() => unseal(app(second), 'mfa', 'a.place', sealed)).toThrow(Unreadable);
  });

  it('opens in the version before too, while the server has one key', () => {
    expect(seal(app(first), 'mfa', 'a.place', 'a secret')).toMatch(/^v1(\.[\w-]+){3}$/);
  });
});

describe('what is signed', () => {
  it('is signed by the present key, and known by those of before', () => {
    expect(signatures(app(second, first), 'links', 'text')).toEqual([
      sign(app(second), 'links', 'text'),
      sign(app(first), 'links', 'text'),
    ]);
    const [ours, before] = signatures(app(second, first), 'links', 'text').map((one) => Buffer.from(one)) as [Buffer, Buffer];
    expect([isOneOf([ours, before], before), isOneOf([ours], before), isOneOf([ours], ours.subarray(1))]).toEqual([true, false, false]);
  });
});

describe('SECRET_KEY_PREVIOUS', () => {
  const long = (letter: string) => letter.repeat(40);

  it('names keys of before, each long enough', () => {
    expect(readConfig({}).previousSecretKeys).toEqual([]);
    expect(readConfig({ SECRET_KEY_PREVIOUS: `${long('a')}, ${long('b')},` }).previousSecretKeys).toEqual([long('a'), long('b')]);
    expect(() => readConfig({ SECRET_KEY_PREVIOUS: `${long('a')},short` })).toThrow(/SECRET_KEY_PREVIOUS/);
  });

  it.each([
    ['a comma between two long parts', `${long('a')},${long('b')}`, (key: string) => key],
    ['a comma behind a backslash', `${long('a')}\\,${long('b')}`, (key: string) => key],
    ['blanks around it', ` ${long('a')}\n`, (key: string) => key],
    [
      'a comma and short parts, written as the document says',
      `${'a'.repeat(30)},b,${long('c')}`,
      (key: string) => key.replaceAll(',', '\\,'),
    ],
  ])('opens what a key with %s sealed', (_what, key, written) => {
    const sealed = seal(app(readConfig({ SECRET_KEY: key }).secretKey!), 'p', 'x', 'secret');
    const { previousSecretKeys } = readConfig({ SECRET_KEY_PREVIOUS: written(key) });
    expect(unseal(app(long('z'), ...previousSecretKeys), 'p', 'x', sealed)).toBe('secret');
  });

  it.each([
    ['one that ends with a backslash', [`${long('a')}\\`, long('b')], `${long('a')}\\,${long('b')}`],
    [
      'one with a comma',
      [long('a'), `${'b'.repeat(20)},${'c'.repeat(20)}`, long('d')],
      `${long('a')}, ${'b'.repeat(20)}\\,${'c'.repeat(20)}, ${long('d')}`,
    ],
  ])('opens what each key of a list sealed, with %s', (_what, given, list) => {
    const { previousSecretKeys } = readConfig({ SECRET_KEY_PREVIOUS: list });
    for (const key of given)
      expect(unseal(app(long('z'), ...previousSecretKeys), 'p', 'x', seal(app(key), 'p', 'x', 'secret'))).toBe('secret');
  });
});
