import { describe, expect, it } from '@jest/globals';
import { isPublic } from '../../src/kernel/egress/addresses.js';
import { Egress } from '../../src/kernel/egress/egress.js';

const publicUrl = 'https://crm.example.org';
const strict = new Egress({ allowPrivate: false, publicUrl });

describe('an address', () => {
  it.each(['93.184.216.34', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e'])(
    '%s is public',
    (address) => expect(isPublic(address)).toBe(true),
  );

  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.254', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
    ...['172.16.0.1', '172.31.255.254', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.254'],
    ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a9fe:a9fe', '::127.0.0.1', '::5efe:7f00:1', '::ffff:0:7f00:1'],
    ...['2606:4700::5efe:7f00:1', '2606:4700::200:5efe:7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a9fe:a9fe', '2002:7f00:1::'],
    ...['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'fec0::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
    ...['2001:db8::1', '3fff::1', '5f00::1', '100::1', '2001:2::1', '2001:10::1', '4000::1', '', 'localhost', '1.2.3', '1.2.3.4.5'],
  ])('%s is not', (address) => expect(isPublic(address)).toBe(false));
});

describe('the address of a webhook', () => {
  it.each([
    ...['https://hooks.example.com/in?a=b', 'https://93.184.216.34/', 'https://[2606:4700:4700::1111]/', 'https://hooks.example.com:8443/'],
    ...['https://xn--mnchen-3ya.example/', 'https://HOOKS.EXAMPLE.COM./', 'https://example.com/#part'],
  ])('may be %s', (url) => expect(strict.urlFault(url)).toBeUndefined());

  it.each([
    ...['http://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'ftp://example.com/', 'data:text/plain,x'],
    ...['unix:/run/docker.sock', 'javascript:alert(1)', 'example.com', '//example.com/', '', 'https://', 'https://exa mple.com/'],
    ...['https://example.com/\r\nX-Evil: 1', 'https:\\\\127.0.0.1\\', `https://example.com/${'a'.repeat(2048)}`],
    ...['https://a@example.com/', 'https://a:b@example.com/', 'https://:b@example.com/', 'https://example.com@127.0.0.1/'],
    ...['2130706433', '0x7f000001', '017700000001', '0177.0.0.1', '127.1', '①②⑦.⓪.⓪.①', '127。0。0。1', '0', '0.0.0.0'].map(
      (host) => `https://${host}/`,
    ),
    ...['[::]', '[::1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:a9fe:a9fe]', '[::127.0.0.1]', '[fd00:ec2::254]'].map(
      (host) => `https://${host}/`,
    ),
    ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'db.internal', 'metadata.google.internal', 'printer.local', 'db', 'db.'].map(
      (host) => `https://${host}/`,
    ),
    ...['https://crm.example.org/api/v1/contacts', 'https://crm.example.org.:444/'],
  ])('may not be %s', (url) => expect(strict.urlFault(url)).toEqual(expect.any(String)));

  it('may be http and private where that is allowed', () => {
    const lenient = new Egress({ allowPrivate: true, publicUrl });
    for (const url of ['http://127.0.0.1:9000/', 'http://localhost/', 'https://10.0.0.1/']) expect(lenient.urlFault(url)).toBeUndefined();
    for (const url of ['ftp://127.0.0.1/', 'http://a@127.0.0.1/']) expect(lenient.urlFault(url)).toEqual(expect.any(String));
  });

  it.each([
    ['a public address', ['93.184.216.34'], undefined],
    ['no address yet', [], undefined],
    ['a private one', ['127.0.0.1'], 'must lead to a public address'],
    ['one of several that is private', ['93.184.216.34', '2606:4700:4700::1111', '10.0.0.1'], 'must lead to a public address'],
  ])('is looked up where it is a name: %s', async (_, addresses, fault) => {
    const egress = new Egress({ allowPrivate: false, publicUrl, resolve: async () => addresses });
    expect(await egress.urlFaultNow('https://10.0.0.1.nip.io/')).toBe(fault);
  });
});
