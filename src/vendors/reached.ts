/** A fault of the network, as Node and undici throw it. */
interface NetworkFault {
  code?: unknown;
  syscall?: unknown;
  message?: unknown;
  /** Of several addresses that were tried, one after the other. */
  errors?: unknown;
}

/** What is done before anything is sent: to ask for the address, and to connect to it. */
const beforehand = new Set<unknown>(['getaddrinfo', 'connect']);

/** Faults of these alone, whatever else they say: nobody there, no such name, no connection in time, none to a proxy. */
const ofConnecting = new Set<unknown>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_PRX_TLS']);

/** A certificate that nobody vouches for, has expired, or is of another name: it is looked at before anything is sent. */
const ofCertificate = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/;

/** A proxy that does not lead on. undici gives this the code of all that is broken off. */
const ofProxy = /^Proxy response \(\d+\)/;

/** Whether a request that met this fault never left: whoever was asked has nothing of it. */
export function neverReached(fault: unknown): boolean {
  const { code, syscall, message, errors } = (fault ?? {}) as NetworkFault;
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(neverReached);
  if (beforehand.has(syscall) || ofConnecting.has(code)) return true;
  return ofCertificate.test(String(code)) || (code === 'UND_ERR_ABORTED' && ofProxy.test(String(message)));
}
