import ICAL from 'ical.js';
import { limitAddress } from '../../kernel/access/rateLimits.js';
import { isOneOf, signatures } from '../../kernel/base/crypto.js';
import { dayMs } from '../../kernel/base/durations.js';
import { found } from '../../kernel/base/errors.js';
import { nextTurn, YieldTimer } from '../../kernel/base/eventLoop.js';
import { hexOfIds, idInHex } from '../../kernel/base/ids.js';
import type { Actor } from '../../kernel/base/principal.js';
import { TurnQueue } from '../../kernel/base/turnQueue.js';
import type { Context } from '../../kernel/context/context.js';
import { instant, integer, listOf, nullable, type RowOf, text as textKind, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { actingForAccount } from '../auth/auth.acting.js';
import type { CalendarFeed } from './calendar.model.js';
import { calendarRows, emitCalendar, findCalendar, getCalendar } from './calendar.service.js';
import type { AppointmentRow, CalendarRow } from './calendar.table.js';

/** Which calendar of which account, and which of its addresses: 36 bytes, and 18 of a signature. */
const [placeBytes, signatureBytes] = [36, 18];
const tokenForm = /^([\w-]{72})(\.ics)?$/;

/** The present one, and those of the keys of before. */
const signaturesOf = ({ app }: Context, place: Buffer) =>
  signatures(app, 'calendar feeds', place.toString('hex')).map((one) => Buffer.from(one, 'base64url').subarray(0, signatureBytes));

/** The address of a calendar's feed, which nobody else can make: whoever has it reads the feed, until it is renewed. */
function addressOf(ctx: Context, { id, feedVersion }: CalendarRow): CalendarFeed {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(feedVersion);
  const place = Buffer.concat([Buffer.from(hexOfIds(ctx.caller.account.id, id), 'hex'), version]);
  const token = Buffer.concat([place, signaturesOf(ctx, place)[0]!]).toString('base64url');
  return { url: `${ctx.app.config.publicUrl}/calendars/${token}.ics` };
}

/** The address under which other programs subscribe to a calendar. */
export const feedOf = async (ctx: Context, id: string): Promise<CalendarFeed> => addressOf(ctx, await getCalendar(ctx, id));

/** Gives the feed of a calendar another address; the one of before leads nowhere from then on. */
export async function renewFeed(ctx: Context, id: string): Promise<CalendarFeed> {
  const before = await ctx.forChange(calendarRows, id);
  const saved: CalendarRow = ctx.update('Calendar', before, { feedVersion: before.feedVersion + 1 });
  await emitCalendar(ctx, saved, changesBetween(before, saved, ['feedVersion']));
  return addressOf(ctx, saved);
}

const reader: Actor = { kind: 'system', id: null, name: 'Calendar feed' };

/**
 * The calendar that an address is of, and a context of its account; undefined for one that we did not write, or that was renewed. Throws
 * 429 once an IP address has asked for one calendar as often as it has requests: anybody has the time to ask for ever.
 */
async function calendarAt(ctx: Context, token: string): Promise<{ acting: Context; calendar: CalendarRow } | undefined> {
  const [, text] = tokenForm.exec(token) ?? [];
  if (!text) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const [place, signature] = [bytes.subarray(0, placeBytes), bytes.subarray(placeBytes)];
  if (!isOneOf(signaturesOf(ctx, place), signature)) return undefined;
  const hex = place.toString('hex');
  const id = idInHex(hex, 1);
  // By calendar: programs of many people and workspaces ask from the addresses of one service.
  await limitAddress(ctx.app.limiter, `feed:${id}`, ctx.request.ip);
  const acting = await actingForAccount(ctx.app, idInHex(hex, 0), { actor: reader });
  const calendar = acting && (await findCalendar(acting, id));
  return calendar && calendar.feedVersion === place.readUInt32BE(32) ? { acting, calendar } : undefined;
}

// The library counts a line without the space that it begins a continued one with: 75 bytes are the most.
ICAL.foldLength = 74;

/** Days of a feed before now. */
const back = 30;
/** Days of a feed from now on. */
const ahead = 365;
/** Appointments of a feed: the next ones of those to come, then the latest of those that were. */
const most = 1000;

const shown = statement({
  name: 'appointmentsOfFeed',
  takes: { calendar: uuid, from: instant, now: instant, to: instant, most: integer },
  row: { id: uuid },
  // What goes on in the range; none lasts longer than 366 days, which the index is asked by.
  text: ({ account, calendar, from, now, to, most: limit }) => sql`
    select t.id from appointments t where t.account_id = ${account} and t.calendar_id = ${calendar}
      and t.end_time > ${from} and t.start_time between ${from}::timestamptz - interval '367 days' and ${to} and t.deleted_at is null
    order by t.end_time > ${now} desc, case when t.end_time > ${now} then t.start_time end, t.start_time desc, t.id limit ${limit}`,
});

const printedRow = {
  ...{ id: uuid, title: textKind, description: nullable(textKind), location: nullable(textKind), status: word<AppointmentRow['status']>() },
  ...{ startTime: instant, endTime: instant, createdAt: instant, updatedAt: instant },
};

// Notes and metadata are not shown: they are not read either.
const textsOf = statement({
  name: 'textsOfFeed',
  takes: { ids: listOf(uuid) },
  row: printedRow,
  text: ({ account, ids }) => sql`
    select t.id, t.title, t.description, t.location, t.status, t.start_time as "startTime", t.end_time as "endTime",
      t.created_at as "createdAt", t.updated_at as "updatedAt"
    from appointments t where t.account_id = ${account} and t.id = any(${ids}) and t.deleted_at is null
    order by array_position(${ids}, t.id)`,
});

/** Appointments whose texts are in memory as rows at one time: each may be 24 KB. */
const inOnePortion = 100;

const statuses = { scheduled: 'CONFIRMED', completed: 'CONFIRMED', cancelled: 'CANCELLED' } as const;

/** In UTC, to the second, as iCalendar has it. */
const time = (at: Date) => `${at.toISOString().slice(0, 19)}Z`;

/** A text on lines of its own, without the control characters that iCalendar has no place for. */
const clean = (text: string) => text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');

type Property = [name: string, parameters: object, type: string, value: string];
const text = (name: string, value: string | null): Property[] => (value === null ? [] : [[name, {}, 'text', clean(value)]]);
const moment = (name: string, value: Date): Property => [name, {}, 'date-time', time(value)];

/** An appointment as jCal (RFC 7265), the JSON of iCalendar. */
const eventOf = ({ id, title, description, location, status, ...times }: RowOf<typeof printedRow>) => [
  'vevent',
  [
    ...[
      ...text('uid', id),
      moment('dtstamp', times.updatedAt),
      moment('last-modified', times.updatedAt),
      moment('created', times.createdAt),
    ],
    ...[moment('dtstart', times.startTime), moment('dtend', times.endTime), ...text('status', statuses[status])],
    ...[...text('summary', title), ...text('description', description), ...text('location', location)],
  ],
  [],
];

/** The appointments as lines. Others go on in between: printing all of them at once would hold them up. */
async function printed(acting: Context, ids: readonly string[]): Promise<string> {
  const parts: string[] = [];
  const turn = new YieldTimer();
  for (let at = 0; at < ids.length; at += inOnePortion) {
    for (const row of await acting.rows(textsOf, { ids: ids.slice(at, at + inOnePortion) })) {
      parts.push(`${ICAL.stringify.component(eventOf(row), ICAL.design.icalendar)}\r\n`);
      if (turn.isDue) await turn.take();
    }
  }
  return parts.join('');
}

/** The lines of the calendar itself around those of its appointments. */
function around({ name, description }: CalendarRow, events: string): string {
  const properties: Property[] = [
    ...[...text('version', '2.0'), ...text('prodid', '-//CRM server//Calendar//EN'), ...text('method', 'PUBLISH')],
    ...[...text('x-wr-calname', name), ...text('x-wr-caldesc', description)],
    ['refresh-interval', {}, 'duration', 'PT15M'],
  ];
  const whole = ICAL.stringify(['vcalendar', properties, []]);
  // A function, since a replacement of text would read the dollar signs in it.
  return whole.replace(/END:VCALENDAR\s*$/, () => `${events}END:VCALENDAR\r\n`);
}

/** Feeds that are read and printed at one time in this process, one of an account: anybody who has an address may ask, without a key. */
const turns = new TurnQueue(2);
/** The feeds that wait for their turn, by the calendar as it is. */
const waiting = new Map<string, Promise<Buffer>>();

/**
 * The feed of a calendar, as bytes: whoever asks while it waits for its turn gets the same ones, which are in memory once. What it shows
 * is read when its turn has come.
 */
function feedText(acting: Context, calendar: CalendarRow): Promise<Buffer> {
  const whose = acting.caller.account.id;
  const key = `${whose} ${calendar.id} ${calendar.updatedAt.getTime()}`;
  const known = waiting.get(key);
  if (known) return known;
  const feed = turns.run(whose, async () => {
    // It may begin at once: not before it is known to wait.
    await nextTurn();
    waiting.delete(key);
    const now = acting.now();
    const range = { from: new Date(now.getTime() - back * dayMs), now, to: new Date(now.getTime() + ahead * dayMs) };
    const ids = (await acting.rows(shown, { calendar: calendar.id, ...range, most })).map(({ id }) => id);
    return Buffer.from(around(calendar, await printed(acting, ids)));
  });
  waiting.set(key, feed);
  return feed;
}

/** GET /calendars/{token}: a calendar as iCalendar (RFC 5545), for programs that subscribe to it. Notes and metadata stay here. */
export async function showFeed(ctx: Context, { params }: CallbackRequest): Promise<RawReply> {
  const { acting, calendar } = found(await calendarAt(ctx, params.token ?? ''), 'Calendar');
  const headers = { 'Cache-Control': 'private, max-age=300', 'Content-Disposition': 'inline; filename="calendar.ics"' };
  return { type: 'text/calendar; charset=utf-8', headers, body: await feedText(acting, calendar) };
}
