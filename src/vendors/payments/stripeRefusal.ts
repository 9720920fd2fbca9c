/** What it answers to a request. */
interface Outcome {
  status: number;
  body: object;
}

/** What Stripe refuses, as it says it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly fault: { type?: string; code?: string; param?: string; message: string },
  ) {
    super(fault.message);
  }
}

/** Of what the address of a request names Stripe says 404 with the parameter `id`, of what its form names 400. */
export const missing = (kind: string, id: string | null, param = 'id') =>
  new Refusal(param === 'id' ? 404 : 400, { code: 'resource_missing', param, message: `No such ${kind}: '${id}'` });

/** What is answered, be it refused; what is answered to nothing is at no address of Stripe's. */
export function outcomeOf(reply: () => object | undefined): Outcome {
  try {
    const body = reply();
    if (!body) throw new Refusal(404, { message: 'Unrecognized request URL' });
    return { status: 200, body };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, body: { error: { type: 'invalid_request_error', ...error.fault } } };
  }
}
