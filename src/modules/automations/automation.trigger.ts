import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../kernel/base/objects.js';
import { type Draft, isObject, nodesOf } from './automation.graph.js';

/** A draft, or what a request gives of one. */
type Given = Partial<Draft>;

type Trigger = Pick<Draft, 'triggerEvent' | 'triggerConditions'>;

const isName = (event: unknown): event is string => typeof event === 'string' && event !== '' && event.length <= 100;

/** What `trigger`, or the config of a start, says: what it cannot say is nothing. */
const saidBy = ({ event, conditions }: Record<string, unknown>): Trigger => ({
  triggerEvent: isName(event) ? event : null,
  triggerConditions: isObject(conditions) ? conditions : null,
});

const asObject = ({ triggerEvent: event, triggerConditions: conditions }: Trigger): Draft['trigger'] =>
  event === null && conditions === null ? null : { event, ...(conditions && { conditions }) };

/** The fields of a request that say what starts the automation, in both forms: the form that was given tells the other one. */
function inBothForms<T extends Given>(given: T, before: Given): T {
  const { trigger, triggerEvent, triggerConditions } = given;
  const isSaidByFields = triggerEvent !== undefined || triggerConditions !== undefined;
  if (trigger !== undefined) return isSaidByFields ? given : { ...given, ...saidBy(trigger ?? {}) };
  if (!isSaidByFields) return given;
  const { triggerEvent: event = null, triggerConditions: conditions = null } = {
    ...before,
    ...defined({ triggerEvent, triggerConditions }),
  };
  return { ...given, trigger: asObject({ triggerEvent: event, triggerConditions: conditions }) };
}

/** What the start of a draft says, where it is a trigger. */
function saidByStart({ graph = null, nodes = null, startNodeId = null, actions = null }: Given): Trigger {
  const given = nodesOf({ graph, nodes, startNodeId, actions } as Draft);
  const start = given.startNodeId === null ? undefined : given.nodes.find(({ id }) => id === given.startNodeId);
  return saidBy(start?.type === 'trigger' && isObject(start.config) ? start.config : {});
}

/**
 * What a request gives of a draft, with what starts the automation in both forms, whichever said it: what its start alone says they
 * show as well, and follow it where it says something else later. What is said in several places differently stays as it is.
 */
export function withTrigger<T extends Given>(request: T, before: Given = {}): T {
  const given = inBothForms(request, before);
  const { trigger = null, triggerEvent = null, triggerConditions = null } = { ...before, ...given } as Given;
  const own: Trigger = { triggerEvent, triggerConditions };
  const [was, says] = [saidByStart(before), saidByStart({ ...before, ...given })];
  // It says what the forms cannot, or they were given apart.
  const { event = null, conditions = null } = trigger ?? {};
  if (!isDeepStrictEqual({ triggerEvent: event, triggerConditions: conditions }, own)) return given;
  const isFollowing = given.trigger === undefined && says.triggerEvent !== null && isDeepStrictEqual(own, was);
  const isOther = triggerEvent !== null && says.triggerEvent !== null && triggerEvent !== says.triggerEvent;
  const filled = { triggerEvent: triggerEvent ?? says.triggerEvent, triggerConditions: triggerConditions ?? says.triggerConditions };
  const shown: Trigger = isFollowing ? says : isOther ? own : filled;
  return isDeepStrictEqual(shown, own) ? given : { ...given, ...shown, trigger: asObject(shown) };
}
