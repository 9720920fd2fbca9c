import { stringify } from 'node:querystring';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';

/** What Twilio's library wants to have asked. */
interface Asking {
  method: 'get' | 'post' | 'delete';
  uri: string;
  username: string;
  password: string;
  headers: Record<string, string>;
  params?: Record<string, string>;
  data?: Record<string, string>;
}

/** Where Twilio is for the library. */
export const liveBase = 'https://api.twilio.com';

/** The most connections to Twilio, as many as the library would have. */
const connections = 20;

/**
 * How Twilio's library asks Twilio: by undici, since axios, which it brings, takes several times the processor's time. What is between
 * this machine and the world (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) is read by undici.
 */
export class TwilioHttp {
  readonly #dispatcher: Dispatcher;

  constructor(
    private readonly base: string,
    timeout: number,
  ) {
    const limits = { connections, connect: { timeout }, headersTimeout: timeout, bodyTimeout: timeout };
    this.#dispatcher = base.startsWith('https:') ? new EnvHttpProxyAgent(limits) : new Agent(limits);
  }

  /** Asks, and answers the body as text, which the library takes apart. */
  async request({ method, uri, username, password, headers, params, data }: Asking): Promise<{ statusCode: number; body: string }> {
    const query = params && Object.keys(params).length > 0 ? `?${stringify(params)}` : '';
    const { statusCode, body } = await request(uri.replace(liveBase, this.base) + query, {
      method: method.toUpperCase() as Dispatcher.HttpMethod,
      dispatcher: this.#dispatcher,
      headers: { ...headers, authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
      body: data && stringify(data),
    });
    return { statusCode, body: await body.text() };
  }

  close(): void {
    void this.#dispatcher.destroy();
  }
}
