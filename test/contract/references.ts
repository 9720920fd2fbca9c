import type { Account, Loose } from '../support/index.js';

/** Makes a record in an account and answers the id that a body would name it by. */
type Reference = (account: Account) => Promise<string>;

const tag: Reference = async (account) => (await account.tag(`tag ${crypto.randomUUID()}`)).id;
const contact: Reference = async (account) => (await account.contact()).id;
const user: Reference = async (account) => account.ownerId;

const rowOf = (account: Account) => ({ accountId: account.id, id: crypto.randomUUID(), createdAt: new Date(), updatedAt: new Date() });

/** A row of a domain, written without its module. */
const row =
  (model: 'company' | 'pipeline', fields: object): Reference =>
  async (account) => {
    const table = account.seed.app.database.prisma[model] as Loose;
    return (await table.create({ data: { ...rowOf(account), ...fields } })).id;
  };

const company = row('company', { name: 'Company' });
const pipeline = row('pipeline', { name: 'Pipeline' });

async function stageIn(account: Account, pipelineId: string): Promise<string> {
  return (await account.seed.app.database.prisma.stage.create({ data: { ...rowOf(account), pipelineId, name: 'Stage' } })).id;
}

const deal: Reference = async (account) => {
  const pipelineId = await pipeline(account);
  const data = { ...rowOf(account), title: 'Deal', pipelineId, stageId: await stageIn(account, pipelineId) };
  return (await account.seed.app.database.prisma.deal.create({ data })).id;
};

/** What a field of a body refers to, by its name: a field without a line here fails the tests of the tenant wall. */
export const references: Record<string, Reference> = {
  assignedTo: user,
  ownerId: user,
  userId: user,
  contactId: contact,
  contactIds: contact,
  primaryId: contact,
  secondaryId: contact,
  companyId: company,
  parentCompanyId: company,
  dealId: deal,
  tagId: tag,
  tagIds: tag,
  sourceId: tag,
  targetId: tag,
};
