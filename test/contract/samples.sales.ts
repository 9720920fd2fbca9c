import { type Account, dataOf } from '../support/index.js';
import type { MakeSample, Sample } from './samples.js';

const aCompany = async (account: Account, n: number) =>
  (await account.company({ name: `Company ${n}`, industry: 'Shipping' })).id as string;

const onCompany: MakeSample = async (account, n) => ({ params: { id: await aCompany(account, n) } });

const stages = [
  { name: 'New', color: '#AABBCC', probability: 0.1 },
  { name: 'Won', isWon: true, probability: '1' },
  { name: 'Lost', isLost: true, order: 7, lostReasonRequired: true, lostReasons: ['Price'] },
];

const onPipeline = async (account: Account, n: number): Promise<Sample> => ({
  params: { id: (await account.pipeline({ name: `Pipeline ${n}` })).id },
});

const onStage: MakeSample = async (account, n) => {
  const pipeline = await account.pipeline({ name: `Pipeline ${n}` });
  return { params: { id: pipeline.id, stageId: pipeline.stages[1].id } };
};

/** The record of a sample deleted, so that there is something to restore. */
async function deletedAt(path: string, account: Account, sample: Promise<Sample> | Sample): Promise<Sample> {
  const made = await sample;
  dataOf(await account.owner.del(`${path}/${made.params!.id}`));
  return made;
}

const aDeal = async (account: Account, n: number, fields: object = {}) =>
  account.deal({ pipeline: await account.pipeline({ name: `Pipeline ${n}` }), title: `Deal ${n}`, ...fields });

const onDeal = async (account: Account, n: number): Promise<Sample> => ({ params: { id: (await aDeal(account, n)).id } });

/** Samples of companies, pipelines and deals. */
export const salesSamples: Record<string, MakeSample> = {
  'GET /companies': async (account, n) => {
    await account.contact({ firstName: 'Ada', companyId: await aCompany(account, n) });
    return { query: `search=Company ${n}&industry=shipping&sort=name&order=asc` };
  },
  'POST /companies': async (account, n) => ({
    body: {
      ...{ name: `Made ${n}`, domain: 'acme.example', industry: 'Shipping', size: '51-200', annualRevenue: '1250000.50' },
      ...{ ownerId: account.ownerId, parentCompanyId: await aCompany(account, n), lifecycleStage: 'customer', phone: '+14155550123' },
      ...{ address: '12 Wharf St', city: 'Portland', country: 'US', description: 'Ships things' },
    },
  }),
  'GET /companies/{id}': async (account, n) => {
    const id = await aCompany(account, n);
    await account.contact({ firstName: 'Ada', companyId: id });
    return { params: { id } };
  },
  'PATCH /companies/{id}': async (account, n) => ({ ...(await onCompany(account, n)), body: { name: `Renamed ${n}`, size: null } }),
  'DELETE /companies/{id}': onCompany,
  'POST /companies/{id}/restore': (account, n) => deletedAt('/companies', account, onCompany(account, n)),

  'GET /pipelines': async (account, n) => ({
    query: `search=Pipeline ${n}&per_page=5`,
    params: await onPipeline(account, n).then(() => ({})),
  }),
  'POST /pipelines': (_account, n) => ({ body: { name: `Made ${n}`, description: 'New business', stages } }),
  'GET /pipelines/{id}': onPipeline,
  'PATCH /pipelines/{id}': async (account, n) => ({ ...(await onPipeline(account, n)), body: { name: `Renamed ${n}`, description: 'x' } }),
  'DELETE /pipelines/{id}': async (account, n) => ({
    params: { id: (await account.pipeline({ name: `Pipeline ${n}`, isDefault: true })).id },
  }),
  'GET /pipelines/{id}/stages': onPipeline,
  'POST /pipelines/{id}/stages': async (account, n) => ({ ...(await onPipeline(account, n)), body: { name: 'Added', position: 1 } }),
  'PATCH /pipelines/{id}/stages/{stageId}': async (account, n) => ({
    ...(await onStage(account, n)),
    body: { name: 'Renamed', position: 0, probability: '0.25' },
  }),
  'DELETE /pipelines/{id}/stages/{stageId}': onStage,

  'GET /deals': async (account, n) => {
    const { pipelineId } = await aDeal(account, n, { value: 100, products: [{ name: 'Seat', unitPrice: '10' }] });
    const include = 'pipeline,stage,contact,company,assignedUser';
    return { query: `pipeline=${pipelineId}&status=open&value_min=50&summary=true&include=${include}` };
  },
  'POST /deals': async (account, n) => {
    const { id, stages } = await account.pipeline();
    return {
      body: {
        ...{
          title: `Made ${n}`,
          pipelineId: id,
          stageId: stages[0].id,
          value: '1250.50',
          currency: 'EUR',
          status: 'open',
          priority: 'high',
        },
        ...{ contactId: (await account.contact()).id, companyId: await aCompany(account, n), assignedTo: account.ownerId, source: 'Web' },
        ...{ probability: 0.25, expectedCloseDate: '2027-01-31', appointmentAt: '2027-01-15T10:00:00+02:00', customFields: { a: 1 } },
        products: [{ name: 'Seat', description: 'A year', quantity: 3, unitPrice: '19.99', discount: 5, tax: '4.20', sortOrder: 1 }],
      },
    };
  },
  'GET /deals/{id}': onDeal,
  'PATCH /deals/{id}': async (account, n) => {
    const { id, pipelineId, stageId } = await aDeal(account, n, { value: 5 });
    return { params: { id }, body: { title: `Renamed ${n}`, value: null, status: 'won', pipelineId, stageId } };
  },
  'DELETE /deals/{id}': onDeal,
  'POST /deals/{id}/restore': (account, n) => deletedAt('/deals', account, onDeal(account, n)),
};
