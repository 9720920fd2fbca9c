import type { Context } from '../../kernel/context/context.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import type { Contact } from './contact.model.js';

/** What may be known of a number, and of an e-mail address. */
export type FactKind = 'opted_out_sms' | 'opted_out_email' | 'landline';

/**
 * Keeps what is known of a number or an address from now on. It stays when the contact that has it is merged into another one, or gets
 * another address: whoever has the address then is the same person.
 */
export function keepFact(ctx: Context, kind: FactKind, address: string, holds = true): void {
  ctx.insert('AddressFact', { kind, address: address.toLowerCase(), holds });
}

/** Whether something is known of an address, in a statement over a row of the account under the alias `c`: the last word counts. */
export const isKnownOf = (kind: FactKind, address: Sql): Sql => sql`(select f.holds from address_facts f
  where f.account_id = c.account_id and f.kind = ${rawSql(`'${kind}'`)} and f.address = ${address} order by f.seq desc limit 1) is true`;

type Reached = Pick<Contact, 'phone' | 'email' | 'optedOutSms' | 'optedOutEmail'>;

const optOuts = [
  { kind: 'opted_out_sms', flag: 'optedOutSms', address: 'phone' },
  { kind: 'opted_out_email', flag: 'optedOutEmail', address: 'email' },
] as const;

/** The addresses of contacts that an opt-out of a kind is about, each once, as facts have them. */
export function addressesOf(contacts: readonly Reached[], kind: FactKind): Set<string> {
  const name = optOuts.find((one) => one.kind === kind)!.address;
  return new Set(contacts.flatMap((contact) => contact[name]?.toLowerCase() ?? []));
}

/**
 * Keeps what a contact that was made or changed says of its addresses: an opt-out is that of the address which it has; who takes it back
 * takes it back for that address, unless it is another one by the same change.
 */
export function keepOptOuts(ctx: Context, before: Reached | null, after: Reached): void {
  for (const { kind, flag, address: name } of optOuts) {
    const address = after[name];
    if (!address) continue;
    const [isSame, wasOut] = [before?.[name]?.toLowerCase() === address.toLowerCase(), before?.[flag] ?? false];
    if (after[flag] ? !(isSame && wasOut) : isSame && wasOut) keepFact(ctx, kind, address, after[flag]);
  }
}

/**
 * Keeps an opt-out of a contact for the addresses that a merge gives it, where it had none of the kind. An address that it had keeps what
 * was said of that one: the opt-out of the other contact is of theirs, and is taken back there.
 */
export function keepOptOutsOfFilled(ctx: Context, before: Reached, after: Reached): void {
  for (const { kind, flag, address: name } of optOuts) {
    const address = after[name];
    if (before[flag] && !before[name] && address) keepFact(ctx, kind, address);
  }
}
