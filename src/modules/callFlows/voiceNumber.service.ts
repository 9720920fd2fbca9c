import type { Context } from '../../kernel/context/context.js';
import type { RowOf } from '../../kernel/database/kinds.js';
import { listRows } from '../../kernel/lists/list.js';
import type { Page } from '../../kernel/model/connection.js';
import { ofVendor } from '../numbers/number.service.js';
import { voiceNumberTable } from './callFlow.table.js';
import { isOurs } from './callFlow.wiring.js';
import type { VoiceNumberList } from './roster.model.js';

type VoiceNumberRow = RowOf<typeof voiceNumberTable.shape> & { wired: boolean };

/** Contract GET /call-flows/numbers: the workspace's numbers that take calls, as the vendor routes them; 502 where it does not answer. */
export async function listVoiceNumbers(ctx: Context, args: VoiceNumberList): Promise<Page<VoiceNumberRow>> {
  const listed = await ofVendor(ctx);
  const voices = new Map(listed.map(({ number, voice }) => [number, voice]));
  const page = await listRows<VoiceNumberRow>(ctx, voiceNumberTable, args);
  for (const row of page.nodes) {
    const voice = voices.get(row.number);
    row.wired = voice !== undefined && isOurs(ctx, voice);
  }
  return page;
}
