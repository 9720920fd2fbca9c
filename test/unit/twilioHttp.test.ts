import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { SmsUnconfirmed } from '../../src/vendors/sms/sms.js';
import { TwilioSms } from '../../src/vendors/sms/twilio.js';
import { liveBase, TwilioHttp } from '../../src/vendors/sms/twilioHttp.js';

interface Met {
  line: string;
  authorization?: string;
  body: string;
}

/** What the vendor was asked; it answers with a text that is no JSON, and never where it is asked to wait. */
const met: Met[] = [];
let vendor: Server;
let http: TwilioHttp;
beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    met.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization, body });
    if (request.url !== '/wait') response.writeHead(418).end('Out of order');
  });
  await new Promise<void>((listening) => vendor.listen(0, '127.0.0.1', listening));
  http = new TwilioHttp(`http://127.0.0.1:${(vendor.address() as AddressInfo).port}`, 300);
});
afterAll(() => {
  http.close();
  vendor.closeAllConnections();
  vendor.close();
});

const caller = { username: 'AC1', password: 'secret' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

it('a form is sent with the credentials, and the answer comes as it is', async () => {
  const data = { To: '+14155550100', Body: 'Ä & ü = 2' };
  const answer = await http.request({ method: 'post', uri: `${liveBase}/Messages.json`, ...caller, headers: form, data });
  expect(answer).toEqual({ statusCode: 418, body: 'Out of order' });
  const { line, authorization, body } = met.pop()!;
  expect([line, Buffer.from(authorization!.slice(6), 'base64').toString()]).toEqual(['POST /Messages.json', 'AC1:secret']);
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual(data);
});

it('what a list is asked for by stands in the address', async () => {
  const params = { PageSize: '50', PhoneNumber: '+1 415' };
  await http.request({ method: 'get', uri: `${liveBase}/Numbers.json`, ...caller, headers: {}, params });
  expect(met.pop()!.line).toBe('GET /Numbers.json?PageSize=50&PhoneNumber=%2B1%20415');
});

it('a vendor that does not answer is not waited for without an end', async () => {
  const asked = http.request({ method: 'post', uri: `${liveBase}/wait`, ...caller, headers: form, data: {} });
  await expect(asked).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
});

it('who cannot be reached was sent nothing, and its fault says so', async () => {
  const nobody = new TwilioHttp('http://127.0.0.1:1', 300);
  const asked = nobody.request({ method: 'post', uri: `${liveBase}/Messages.json`, ...caller, headers: form, data: {} });
  await expect(asked).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  nobody.close();
});

describe('a text message', () => {
  /** Takes every connection, and never says anything. */
  const sockets = new Set<Socket>();
  const mute = createTcpServer((socket) => void sockets.add(socket.on('error', () => {})));
  /** Speaks TLS, by a certificate that nobody vouches for. */
  const stranger = new SMTPServer({ secure: true, disableReverseLookup: true, logger: false });
  stranger.on('error', () => {});
  const portOf = (listening: { address(): unknown }) => (listening.address() as AddressInfo).port;
  beforeAll(async () => {
    await new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening));
    await new Promise<void>((listening) => stranger.listen(0, '127.0.0.1', listening));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    mute.close();
    await new Promise<void>((closed) => stranger.close(closed));
  });

  /** What becomes of one that is handed over there. */
  async function outcome(apiBase: string): Promise<unknown> {
    const twilio = new TwilioSms(async () => ({ accountSid: 'AC1', authToken: 'secret', apiBase }), '+14155550100', 300);
    const text = { from: '+14155550100', to: '+14155550101', body: 'Hello', statusUrl: 'http://127.0.0.1:1/status' };
    const fault = await twilio.send(text).catch((error: unknown) => error);
    twilio.close();
    return fault;
  }

  it('was not sent where nobody could be connected to: it waits', async () => {
    expect(await outcome('http://127.0.0.1:1')).toMatchObject({ reason: 'unavailable', mayPass: true });
  });

  it('was not sent where the connection was taken, and its encryption never agreed on: it waits', async () => {
    const reason = { reason: 'unavailable', message: 'Twilio could not be reached (UND_ERR_CONNECT_TIMEOUT)' };
    expect(await outcome(`https://127.0.0.1:${portOf(mute)}`)).toMatchObject(reason);
  });

  it('was not sent where nobody vouches for who answers: it waits', async () => {
    expect(await outcome(`https://127.0.0.1:${portOf(stranger.server)}`)).toMatchObject({ reason: 'unavailable' });
  });

  it('may have been sent where it was taken and not answered', async () => {
    expect(await outcome(`http://127.0.0.1:${portOf(mute)}`)).toBeInstanceOf(SmsUnconfirmed);
  });
});
