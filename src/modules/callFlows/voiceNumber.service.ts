import type { Context } from '../../kernel/context/context.js';
import type { RowOf } from '../../kernel/database/kinds.js';
import { listRows } from '../../kernel/lists/list.js';
import type { Page } from '../../kernel/model/connection.js';
import { mostListed } from '../../vendors/sms/sms.js';
import { isOurs } from '../numbers/number.routing.js';
import { numberOfVendor, ofVendor } from '../numbers/number.service.js';
import type { VoiceNumberList } from './voiceNumber.model.js';
import { voiceNumberTable } from './voiceNumber.table.js';

type VoiceNumberRow = RowOf<typeof voiceNumberTable.shape> & { wired: boolean };

/** Questions that the vendor is asked at once; the first that it does not answer ends them. */
const atOnce = 20;

/**
 * Those of some numbers whose calls come to the service. One list brings all that it has for us, unless they are more than it holds: those
 * that it lacks then are asked for one by one.
 */
async function wiredOf(ctx: Context, numbers: readonly string[]): Promise<ReadonlySet<string>> {
  const listed = await ofVendor(ctx);
  const known = new Set(listed.map(({ number }) => number));
  const lacking = listed.length < mostListed ? [] : numbers.filter((number) => !known.has(number));
  for (let n = 0; n < lacking.length; n += atOnce) {
    const some = await Promise.all(lacking.slice(n, n + atOnce).map((number) => numberOfVendor(ctx, number)));
    listed.push(...some.filter((one) => one !== undefined));
  }
  return new Set(listed.filter(({ voice }) => isOurs(ctx, voice)).map(({ number }) => number));
}

/** Contract GET /call-flows/numbers: the workspace's numbers that take calls, as the vendor routes them; 502 where it does not answer. */
export async function listVoiceNumbers(ctx: Context, args: VoiceNumberList): Promise<Page<VoiceNumberRow>> {
  const page = await listRows<VoiceNumberRow>(ctx, voiceNumberTable, args);
  const wired = await wiredOf(
    ctx,
    page.nodes.map(({ number }) => number),
  );
  for (const row of page.nodes) row.wired = wired.has(row.number);
  return page;
}
