import { type GraphQLObjectType, getNamedType, isListType, isNonNullType, isObjectType } from 'graphql';
import { invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { recordFields } from '../model/restRecord.js';
import type { AnyTable } from '../tables/table.js';
import { ofChange } from './comparableFields.js';
import { matcherOf } from './matcher.js';

/**
 * Throws 400 naming the first of some conditions that asks for a change which no event tells, so that it would never hold. For conditions
 * that are new: what is kept already goes on as it is. Throws 400 as well for what is wrong with them otherwise.
 */
export function refuseUntold(ctx: Context, type: string, given: unknown, at: string): void {
  for (const { at: place, field } of matcherOf(ctx, type, given, at).asked()) {
    const [, name] = ofChange.exec(field) ?? [];
    const why = name && whyUntold(ctx, type, name);
    if (why) throw invalidField(place.replace(/\.value$/, '.field'), 'not_allowed', why);
  }
}

/** What every record keeps as it was made. */
const alwaysFixed = ['id', 'createdAt', 'createdBy'];

/** Why no event tells that a field of a record changed; undefined where one may. */
function whyUntold({ app: { registry } }: Context, type: string, name: string): string | undefined {
  const {
    withoutEvents = [],
    toldAtTimes = [],
    toldBy,
    neverTold = [],
    fixed = [],
  } = (registry.tables.get(type) as AnyTable | undefined)?.options ?? {};
  if (alwaysFixed.includes(name) || fixed.includes(name)) return `asks for a change of ${name}, which never changes`;
  const [own] = name.split('.') as [string];
  const isSilent = withoutEvents.includes(name) && !toldAtTimes.includes(name);
  if (isSilent || neverTold.includes(own) || name === 'updatedAt')
    return `asks for a change of ${name}, which no event tells; its value can be asked for: ${name}`;
  const isLed = leadsToOne(registry.schema().getType(type) as GraphQLObjectType, own);
  const instead = isLed ? `${own}Id` : (toldBy?.[name] ?? toldBy?.[own]);
  return instead && `asks for a change of ${name}, which no event tells; that of ${instead} is told`;
}

/** Whether a member of a record is another record, which it names by its id: what changes is the id. */
function leadsToOne(type: GraphQLObjectType, name: string): boolean {
  const fields = recordFields(type);
  const led = fields.find(({ shown }) => shown === name)?.field;
  if (!led || led.extensions.rule || !fields.some(({ shown }) => shown === `${name}Id`)) return false;
  const whole = isNonNullType(led.type) ? led.type.ofType : led.type;
  return !isListType(whole) && isObjectType(getNamedType(whole));
}
