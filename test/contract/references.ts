import type { Account, Loose } from '../support/index.js';
import { aNumber } from './samples.talk.js';
import { aWebhook } from './samples.webhooks.js';

/**
 * Makes a record in an account and answers the id that a body would name it by. `beside` is the rest of that body, where the
 * record has to fit it.
 */
type Reference = (account: Account, beside?: Record<string, unknown>) => Promise<string>;

const tag: Reference = async (account) => (await account.tag(`tag ${crypto.randomUUID()}`)).id;
const contact: Reference = async (account) => (await account.contact({ email: 'reader@example.com', phone: '+14155550199' })).id;
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

async function dealIn(account: Account, pipelineId: string, stageId?: string): Promise<string> {
  const data = { ...rowOf(account), title: 'Deal', pipelineId, stageId: stageId ?? (await stageIn(account, pipelineId)) };
  return (await account.seed.app.database.prisma.deal.create({ data })).id;
}

const template: Reference = async (account) =>
  (
    await account.seed.app.database.prisma.template.create({
      data: { ...rowOf(account), name: 'Template', channel: 'email', body: 'Hello' },
    })
  ).id;

const deal: Reference = async (account) => dealIn(account, await pipeline(account));

/** The pipeline that the stage of the body belongs to; any other account has one of its own. */
const itsPipeline: Reference = async (account, beside) => (beside?.pipelineId as string | undefined) ?? pipeline(account);
const itsStage: Reference = async (account, beside) => stageIn(account, await itsPipeline(account, beside));
/** A deal of the same stage. */
const neighbour: Reference = async (account, beside) => {
  const pipelineId = await itsPipeline(account, beside);
  return dealIn(account, pipelineId, beside?.stageId as string | undefined);
};

/** An event that the feed has. */
const event: Reference = async (account) => {
  const { id } = await account.contact({ firstName: 'Ada' });
  const { outboxEvent } = account.seed.app.database.prisma;
  return (await outboxEvent.findFirstOrThrow({ where: { accountId: account.id, entityId: id } })).id;
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
  templateId: template,
  webhookId: (account) => aWebhook(account),
  smsProviderId: aNumber,
  fromkPhoneNumberId: aNumber,
  afterDealId: neighbour,
  pipelineId: itsPipeline,
  stageId: itsStage,
  tagId: tag,
  tagIds: tag,
  sourceId: tag,
  targetId: tag,
  eventId: event,
};
