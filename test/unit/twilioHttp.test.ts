import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
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
