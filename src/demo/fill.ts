import type { Clock } from '../kernel/base/clock.js';
import { dayMs, hourMs } from '../kernel/base/durations.js';
import { Context } from '../kernel/context/context.js';
import { createContact, updateContact } from '../modules/contacts/contact.service.js';
import { createTag } from '../modules/tags/tag.service.js';
import { addCalendars } from './calendars.js';
import { addCall, addMainLine } from './calls.js';
import { addForm } from './forms.js';
import { addImport } from './imports.js';
import { addMoney } from './money.js';
import { firms, people, sources, tags, titles } from './people.js';
import { addReacting } from './reacting.js';
import { addCompanies, addDeal, addPipeline, dealCount } from './sales.js';
import { addTalk } from './talk.js';
import { addCustomFields, addSmartLists, addWork, segments } from './work.js';

/** How long the account has been in use: less than the feed keeps, so that every event can be read. */
const history = 25 * dayMs;
/** Contacts a transaction: few enough for a slow machine to end each within the time that a transaction may take. */
const batch = 6;

/** The nth of a list, round and round. */
const nth = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/** A clock that begins in the past and goes when it is told. */
class PastClock implements Clock {
  constructor(
    private readonly real: Clock,
    private moment: number,
  ) {}

  now = () => new Date(this.moment);
  id = () => this.real.id();
  bytes = (length: number) => this.real.bytes(length);

  advance(ms: number): void {
    this.moment += ms;
  }
}

/**
 * Fills the demo account as its people would have over the last weeks: through the services, so that events, log entries
 * and counters are right, on a clock that goes from then to now. The same every time, but for ids and dates. Answers the id of its
 * form.
 */
export async function fill(owner: Context, assignees: string[]): Promise<string> {
  const clock = new PastClock(owner.app.clock, owner.now().getTime() - history);
  const ctx = new Context({ ...owner.app, clock }, owner.request, owner.principal);
  await ctx.transaction(addTags);
  await ctx.transaction(addCustomFields);
  const companies = await ctx.transaction((inside) => addCompanies(inside, assignees));
  await ctx.transaction(addSmartLists);
  const contacts: string[] = [];
  const parties = { ...(await ctx.transaction(addPipeline)), contacts, companies, assignees };
  const line = await ctx.transaction((inside) => addMainLine(inside, assignees.slice(0, 2)));
  let sold = 0;
  for (let from = 0; from < people.length; from += batch) {
    await ctx.transaction(async (inside) => {
      for (let i = from; i < Math.min(from + batch, people.length); i++) {
        clock.advance((history * 0.96) / people.length);
        contacts.push((await createContact(inside, { ...person(i, assignees), companyId: nth(companies, i * 5) })).id);
      }
    });
    const [last] = contacts.slice(-2);
    await ctx.transaction((inside) => addCall(inside, from / batch, last!, nth(assignees, from / batch), line));
    // Early enough for one of the invoices to be late by now.
    if (contacts.length === batch * 4) await ctx.transaction((inside) => addMoney(inside, contacts));
    const due = Math.floor((dealCount * contacts.length) / people.length);
    for (; sold < due; sold++) await ctx.transaction((inside) => addDeal(inside, sold, parties));
  }
  await ctx.transaction((inside) => followUp(inside, contacts, clock));
  await ctx.transaction((inside) => addWork(inside, contacts, assignees));
  await ctx.transaction((inside) => addTalk(inside, contacts));
  await ctx.transaction((inside) => addCalendars(inside, contacts, assignees));
  await addImport(ctx, contacts);
  await addReacting(ctx, contacts);
  // Until a moment ago.
  clock.advance(Math.max(0, owner.now().getTime() - ctx.now().getTime()));
  for (const [n, id] of contacts.slice(0, 3).entries()) await ctx.transaction((inside) => addCall(inside, n, id, nth(assignees, n), line));
  return addForm(ctx, contacts);
}

async function addTags(ctx: Context): Promise<void> {
  for (const [name, color] of tags) await createTag(ctx, { name, color });
}

const statuses = ['lead', 'lead', 'qualified', 'customer', 'lead', 'qualified', 'customer', 'prospect', 'lead', 'churned'];

/** The nth person of the account. Some lack an address, a number, a tag or an owner, as in life. */
function person(n: number, assignees: string[]) {
  const [firstName, lastName] = nth(people, n);
  const { name: company, domain, street, dial, ...place } = nth(firms, n * 5);
  const { source, ...tracked } = nth(sources, n * 7);
  const plain = (text: string) =>
    text
      .normalize('NFD')
      .replace(/[^a-z]/gi, '')
      .toLowerCase();
  return {
    firstName,
    lastName,
    company,
    source,
    ...place,
    addressLine1: street,
    jobTitle: nth(titles, n * 3),
    email: n % 11 === 4 ? null : `${plain(firstName)}.${plain(lastName)}@${domain}`,
    phone: n % 9 === 5 ? null : `${dial}555${String(100 + n).padStart(4, '0')}`,
    masterStatus: nth(statuses, n),
    assignedTo: n % 8 === 6 ? null : nth(assignees, n),
    doNotContact: n % 20 === 13,
    doNotContactReason: n % 20 === 13 ? 'Asked to be left alone on the phone' : null,
    attribution: 'utm_source' in tracked ? tracking(tracked) : null,
    customFields: { segment: nth(segments, n), employees: 5 + ((n * 37) % 400), ...(n % 3 === 0 && { renewalMonth: 1 + (n % 12) }) },
    tags: n % 7 === 3 ? [] : [...new Set([nth(tags, n), nth(tags, n * 3 + 1)].slice(0, 1 + (n % 2)).map(([tag]) => tag))],
  };
}

/** What the pixel on the website would have told. */
const tracking = (told: { utm_source: string; utm_medium: string; utm_campaign: string; landingUrl: string }) => ({
  ...told,
  utm_content: null,
  utm_term: null,
  referrer: `https://${told.utm_source}.example/`,
  pageTitle: 'Northwind',
  clickIds: null,
});

/** What happened to some of them since. */
async function followUp(ctx: Context, contacts: string[], clock: PastClock): Promise<void> {
  for (const [i, id] of contacts.entries()) {
    if (i % 6 !== 1) continue;
    clock.advance(2 * hourMs);
    const won = i % 12 === 1;
    const change = won ? { masterStatus: 'customer', customFields: { firstOrder: 1200 + i * 45 } } : { masterStatus: 'qualified' };
    await updateContact(ctx, id, change);
  }
}
