import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { isDomain } from '../base/domains.js';
import { check, type Fault, type FaultCode, invalidField, notOneOf, tooLarge } from '../base/errors.js';
import { exact } from '../base/money.js';
import { endOfDay, zoneName } from '../base/timeZones.js';
import { isLonger, normalized } from '../base/unicode.js';
import { jsonFault, storableText, unstorable } from './jsonFault.js';

/** Tells that the field at `at` is wrong: a code for programs, words that follow its name, and what would be valid where that is few. */
export type Report = (at: string, code: FaultCode, message: string, options?: readonly string[]) => void;
/** What a check knows of the account whose input it looks at; nobody's before login. */
export interface CheckScope {
  readonly account?: { timezone: string; defaultCountry: string };
}
/** Returns the cleaned value, null for "nothing", and reports what is wrong. */
export type Check = (value: unknown, at: string, report: Report, scope: CheckScope) => unknown;

const tell = (report: Report, at: string, { code, message, options }: Fault) => report(at, code, message, options);

export const any: Check = (value) => value;

function cleanText(value: unknown, max: number, at: string, report: Report): string | null {
  const text = normalized(String(value).trim());
  if (text === '') return null;
  if (unstorable.test(text)) report(at, 'invalid_format', storableText);
  else if (isLonger(text, max)) report(at, 'too_long', `must be at most ${max} characters`);
  return text;
}

/** Trimmed text of at most `max` code points, and where it is something of at least `min`; "" is nothing. */
export const text =
  (max: number, min = 1): Check =>
  (value, at, report) => {
    const cleaned = cleanText(value, max, at, report);
    if (cleaned !== null && !isLonger(cleaned, min - 1)) report(at, 'too_short', `must be at least ${min} characters`);
    return cleaned;
  };

/** Trimmed text of any length that its bytes allow, else 413. */
export const longText =
  (maxBytes: number): Check =>
  (value, at, report) => {
    if (Buffer.byteLength(String(value)) > maxBytes) throw tooLarge(at, `must be at most ${maxBytes / 1024} KB`);
    return cleanText(value, maxBytes, at, report);
  };

/** A file's text as it came: the blanks at its ends belong to it. */
export const fileText =
  (maxBytes: number): Check =>
  (value, at, report) => {
    const given = String(value);
    if (Buffer.byteLength(given) > maxBytes) throw tooLarge(at, `must be at most ${maxBytes / 1024} KB`);
    if (unstorable.test(given)) report(at, 'invalid_format', storableText);
    return given.trim() === '' ? null : given;
  };

export const secret =
  (min: number): Check =>
  (value, at, report) => {
    const given = String(value);
    if (given === '') report(at, 'required', 'is required');
    else if (!isLonger(given, min - 1)) report(at, 'too_short', `must be at least ${min} characters`);
    else if (isLonger(given, 256)) report(at, 'too_long', 'must be at most 256 characters');
    else if (unstorable.test(given)) report(at, 'invalid_format', storableText);
    return given;
  };

// One grammar for every address: no quotes, comments, lists or control characters can reach a mail header. A mark is part of its letter.
const address = /^(?:[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]|(?<=[\p{L}\p{M}])\p{M}){1,64}@([^@]+)$/u;

/** Whether `text` is one plain e-mail address. */
export const isEmail = (value: string) => value.length <= 254 && isDomain(address.exec(value)?.[1] ?? '');

export const email: Check = (value, at, report) => {
  const cleaned = cleanText(value, 254, at, report);
  if (cleaned !== null && !isEmail(cleaned)) report(at, 'invalid_format', 'must be an e-mail address');
  return cleaned;
};

/** The number as E.164, or undefined where libphonenumber does not hold it possible. */
export function toE164(value: string, country: string): string | undefined {
  const parsed = parsePhoneNumberFromString(value, country as never);
  return parsed?.isPossible() && !parsed.ext ? parsed.number : undefined;
}

/** The number as E.164 where it is one, else as it was given. */
export const asE164 = (value: string, country: string): string => toE164(value, country) ?? value;

/** Whether a value is a telephone number in E.164 form, which `toE164` leaves as it is. */
export const isE164 = (value: unknown): value is string => typeof value === 'string' && /^\+[1-9]\d{6,14}$/.test(value);

/** Whether a text is an http(s) URL. What parses an address leaves line breaks out; a header that it is put into would not. */
export const isWebUrl = (value: string): boolean =>
  URL.canParse(value) && !/[\s\p{Cc}]/u.test(value) && /^https?:$/.test(new URL(value).protocol);

/** The digits that lead the numbers of a country: 49 for DE. */
export const callingCode = (country: string): string => (isSupportedCountry(country) ? getCountryCallingCode(country) : '');

export const phone: Check = (value, at, report, scope) => {
  const cleaned = cleanText(value, 30, at, report);
  if (cleaned === null || cleaned.length > 60) return cleaned;
  const number = toE164(cleaned, scope.account?.defaultCountry ?? 'US');
  if (!number) report(at, 'invalid_format', 'must be a phone number, best in E.164 form (+15551234567)');
  return number ?? cleaned;
};

export const url =
  (max: number): Check =>
  (value, at, report) => {
    const cleaned = cleanText(value, max, at, report);
    if (cleaned === null) return null;
    if (!isWebUrl(cleaned)) report(at, 'invalid_format', 'must be an http(s) URL');
    return cleaned;
  };

export const color: Check = (value, at, report) => {
  const cleaned = cleanText(value, 20, at, report);
  if (cleaned !== null && !/^#[0-9a-f]{6}$/i.test(cleaned)) report(at, 'invalid_format', 'must be a hex colour like #6B7280');
  return cleaned;
};

/** A time zone by its IANA name, kept as IANA spells it. */
export const timeZone: Check = (value, at, report) => {
  const given = cleanText(value, 64, at, report);
  const zone = given === null ? null : zoneName(given);
  if (zone === undefined) report(at, 'invalid_format', 'must be an IANA time zone, such as Europe/Berlin');
  return zone ?? given;
};

/** Kept in capitals, as ISO 3166-1 writes it. */
export const country: Check = (value, at, report) => {
  const code = cleanText(value, 10, at, report)?.toUpperCase() ?? null;
  if (code !== null && !isSupportedCountry(code)) report(at, 'invalid_format', 'must be an ISO 3166-1 code of two letters, such as DE');
  return code;
};

/** Kept in capitals, as ISO 4217 writes it. */
export const currency: Check = (value, at, report) => {
  const code = cleanText(value, 10, at, report)?.toUpperCase() ?? null;
  if (code !== null && !/^[A-Z]{3}$/.test(code)) report(at, 'invalid_format', 'must be an ISO 4217 code of three letters');
  return code;
};

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (value: unknown): value is string => typeof value === 'string' && uuidText.test(value);

export const uuid: Check = (value, at, report) => {
  if (value === '') return null;
  if (!isUuid(value)) report(at, 'invalid_format', 'must be a UUID');
  return String(value).toLowerCase();
};

const chosen = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** An id that a client chose: a random UUID, or one of its time. */
export const clientId: Check = (value, at, report) => {
  if (value === '') return null;
  if (!chosen.test(String(value))) report(at, 'invalid_format', 'must be a UUID of version 4 or 7');
  return String(value).toLowerCase();
};

export const list =
  (max: number, each: Check): Check =>
  (value, at, report, scope) => {
    const items = value as unknown[];
    if (items.length > max) {
      report(at, 'too_many', `must have at most ${max} items`);
      return items;
    }
    return items.map((item, i) => {
      const cleaned = item === null ? null : each(item, `${at}.${i}`, report, scope);
      if (cleaned === null) report(`${at}.${i}`, 'required', 'must not be empty');
      return cleaned;
    });
  };

/** The keys of a telephone. */
export const phoneKeys: readonly string[] = [...'0123456789*#'];

export const oneOf =
  (members: readonly string[]): Check =>
  (value, at, report) => {
    if (value === '') return null;
    if (!members.includes(String(value))) tell(report, at, notOneOf(members));
    return value;
  };

export const between =
  (min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Check =>
  (value, at, report) => {
    if ((value as number) < min) report(at, 'out_of_range', `must be at least ${min}`);
    else if ((value as number) > max) report(at, 'out_of_range', `must be at most ${max}`);
    return value;
  };

interface Decimals {
  scale: number;
  /** Whether more places are rounded, halves away from zero, instead of refused. */
  rounded?: boolean;
  min?: number;
  max?: number;
}

/** An exact decimal of numeric(18, scale), as the text that PostgreSQL makes of it: with all its places. */
export const decimal =
  ({ scale, rounded, min, max }: Decimals): Check =>
  (given, at, report) => {
    const value = rounded ? exact(String(given)).toFixed(scale) : given;
    const [whole = '', fraction = ''] = String(value).replace('-', '').split('.');
    const [digits, places] = [whole.replace(/^0+(?=\d)/, ''), fraction.replace(/0+$/, '')];
    if (places.length > scale) report(at, 'out_of_range', `must have at most ${scale} decimal places`);
    else if (digits.length > 18 - scale) report(at, 'out_of_range', `must have at most ${18 - scale} digits before the point`);
    else if (min !== undefined && Number(given) < min) report(at, 'out_of_range', `must be at least ${min}`);
    else if (max !== undefined && Number(given) > max) report(at, 'out_of_range', `must be at most ${max}`);
    const text = scale > 0 ? `${digits}.${places.padEnd(scale, '0')}` : digits;
    return String(value).startsWith('-') && /[1-9]/.test(text) ? `-${text}` : text;
  };

/** What is wrong with an instant that PostgreSQL and JavaScript do not both hold. */
const outOfYears: Fault = { code: 'out_of_range', message: 'must be a date-time between the years 1 and 9999' };

export const isInYears = (instant: Date): boolean => instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999;

/** An instant that PostgreSQL and JavaScript both can hold. */
export const instant: Check = (value, at, report) => {
  if (!isInYears(value as Date)) report(at, outOfYears.code, outOfYears.message);
  return value;
};

/** Checks an instant that a service computed: an offset or a time zone may lead out of the years 1 to 9999. Throws 400 naming the field. */
export function checkInstant(field: string, instant: Date): Date {
  check(isInYears(instant), () => invalidField(field, outOfYears.code, outOfYears.message));
  return instant;
}

const day = /^(\d{4})-(\d{2})-(\d{2})$/;
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?$/;

/** Whether the text is a day of the calendar, YYYY-MM-DD. */
export function isDay(value: string): boolean {
  if (!day.test(value)) return false;
  const parsed = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value) && !value.startsWith('0000');
}

/** A day that PostgreSQL can hold: GraphQL's own check lets the year 0 pass. */
export const calendarDay: Check = (value, at, report) => {
  if (!isDay(String(value))) report(at, 'out_of_range', 'must be a date between the years 1 and 9999');
  return value;
};

// In a query string the + of an offset is a space, unless the caller thinks of writing %2B.
const spacedOffset = /([T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) (?=\d{2}:?\d{2}$)/i;

export const moment = (value: unknown, at: string, report: Report): string | null => {
  const given = String(value).trim().replace(spacedOffset, '$1+');
  if (given === '') return null;
  const good = isDay(given) || (dateTime.test(given) && isDay(given.slice(0, 10)) && !Number.isNaN(Date.parse(given.replace(' ', 'T'))));
  if (!good) report(at, 'invalid_format', 'must be a day (YYYY-MM-DD) or an ISO 8601 date-time');
  return given;
};

/** An instant with an offset, or a day that stands for its end in the workspace's time zone. */
export const deadline: Check = (value, at, report, scope) => {
  const given = String(value).trim().toUpperCase().replace(' ', 'T');
  if (given === '') return null;
  const [, offset] = /([Z]|[+-]\d{2}:?\d{2})$/.exec(given) ?? [];
  const good = isDay(given) || (offset && dateTime.test(given) && isDay(given.slice(0, 10)));
  const end = isDay(given) ? endOfDay(given, scope.account?.timezone ?? 'UTC') : new Date(given);
  if (!good || Number.isNaN(end.getTime()))
    report(at, 'invalid_format', 'must be a day (YYYY-MM-DD) or an ISO 8601 date-time with an offset');
  else instant(end, at, report, scope);
  return end;
};

export const jsonObject =
  (maxBytes: number): Check =>
  (value, at, report) => {
    const fault = jsonFault(value);
    if (fault) tell(report, at, fault);
    else if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) throw tooLarge(at, `must be at most ${maxBytes / 1024} KB of JSON`);
    return value;
  };
