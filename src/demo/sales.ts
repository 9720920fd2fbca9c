import { dayMs } from '../kernel/base/durations.js';
import type { Context } from '../kernel/context/context.js';
import type { CreateCompanyInput } from '../modules/companies/company.model.js';
import { createCompany } from '../modules/companies/company.service.js';
import type { CreateDealInput } from '../modules/deals/deal.model.js';
import { createDeal, updateDeal } from '../modules/deals/deal.service.js';
import { createNote } from '../modules/notes/note.service.js';
import type { CreateStageInput } from '../modules/pipelines/pipeline.model.js';
import { createPipeline } from '../modules/pipelines/pipeline.service.js';
import { createTask } from '../modules/tasks/task.service.js';
import { firms } from './people.js';

const nth = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
const dayIn = (ctx: Context, days: number) => new Date(ctx.now().getTime() + days * dayMs).toISOString().slice(0, 10);

const industries = ['Hospitality', 'Health', 'Construction', 'Real estate', 'Health', 'Food', 'Logistics', 'Legal', 'Design', 'Education'];
const sizes = ['11-50', '1-10', '51-200', '11-50', '1-10', '51-200', '201-500', '501-1000'] as const;

/** The firms of the account's people as companies, in their order. */
export async function addCompanies(ctx: Context, owners: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [i, { name, domain, street, city, state, zip, country }] of firms.entries()) {
    const own = { name, domain, address: street, city, state, zip, country, industry: nth(industries, i), size: nth(sizes, i) };
    const more = { website: `https://${domain}`, ownerId: nth(owners, i), lifecycleStage: i % 3 === 0 ? 'customer' : 'lead' };
    ids.push((await createCompany(ctx, { ...own, ...more } as CreateCompanyInput)).id);
  }
  return ids;
}

const stages = [
  { name: 'New', color: '#6B7280', probability: '0.1000' },
  { name: 'Qualified', color: '#2563EB', probability: '0.3000' },
  { name: 'Proposal', color: '#7C3AED', probability: '0.5000' },
  { name: 'Negotiation', color: '#D97706', probability: '0.8000' },
  { name: 'Won', color: '#059669', isWon: true, probability: '1.0000' },
  {
    ...{ name: 'Lost', color: '#DC2626', isLost: true, probability: '0.0000', lostReasonRequired: true },
    lostReasons: ['Price', 'Timing', 'Competitor', 'No answer'],
  },
];

const [fresh, qualified, proposal, negotiation, won, lost] = [0, 1, 2, 3, 4, 5];

/** What is sold: its title, how far it has come, what it is worth, and in how many days it should close. */
const deals: [title: string, stage: number, value: string, days: number][] = [
  ['Website relaunch', negotiation, '18500.00', 9],
  ['Care plan for three sites', proposal, '3204.00', 20],
  ['Onboarding workshop', won, '1200.00', -4],
  ['Annual audit', fresh, '950.00', 45],
  ['Booking system', qualified, '7800.00', 31],
  ['Printed welcome kits', won, '612.50', -9],
  ['Consulting retainer', negotiation, '17400.00', -2],
  ['Move to the new shop', lost, '9900.00', -12],
  ['Member portal', proposal, '12600.00', 27],
  ['Photo library', fresh, '2100.00', 60],
  ['Second location', qualified, '5400.00', 38],
  ['Newsletter templates', lost, '780.00', -6],
];

/** How many deals there are to tell of. */
export const dealCount = deals.length;

/** Where deals are made, and between whom. */
export interface Parties {
  pipelineId: string;
  stages: string[];
  contacts: string[];
  companies: string[];
  assignees: string[];
}

export async function addPipeline(ctx: Context): Promise<Pick<Parties, 'pipelineId' | 'stages'>> {
  const description = 'From the first call to the signature';
  const pipeline = await createPipeline(ctx, { name: 'Sales', description, stages: stages as CreateStageInput[] });
  return { pipelineId: pipeline.id, stages: pipeline.stages!.map(({ id }) => id) };
}

/** The nth deal: made, moved and closed as people do, with what is left to do. */
export async function addDeal(
  ctx: Context,
  i: number,
  { pipelineId, stages: ids, contacts, companies, assignees }: Parties,
): Promise<void> {
  const [title, stage, value, days] = deals[i]!;
  const products = i % 3 === 1 ? [{ name: title, quantity: '1.0000', unitPrice: value }] : [];
  const parties = { contactId: nth(contacts, i * 5), companyId: nth(companies, i * 25), assignedTo: nth(assignees, i) };
  const terms = {
    priority: nth(['medium', 'high', 'low'], i),
    expectedCloseDate: dayIn(ctx, days),
    source: nth(['Website', 'Referral'], i),
    customFields: i % 3 === 0 ? { competitor: nth(['Contoso', 'Fabrikam'], i) } : {},
  };
  const given = { title, pipelineId, stageId: ids[0]!, ...parties, ...terms, products, ...(products.length === 0 && { value }) };
  const { id } = await createDeal(ctx, given as CreateDealInput);
  if (stage > fresh) await updateDeal(ctx, id, { stageId: ids[Math.min(stage, negotiation)] });
  if (stage === won) await updateDeal(ctx, id, { stageId: ids[won], status: 'won' });
  if (stage === lost) await updateDeal(ctx, id, { stageId: ids[lost], status: 'lost', lostReason: nth(['Price', 'Timing'], i) });
  const dueDate = new Date(ctx.now().getTime() + 20 * dayMs);
  const open = { priority: 'medium', status: 'todo' } as const;
  if (stage === proposal) await createTask(ctx, { ...open, title: `Ask about: ${title}`, dealId: id, dueDate });
  if (stage === negotiation) await createNote(ctx, { body: 'They want to sign before the end of the month.', dealId: id, isPinned: false });
}
