import { dayMs } from '../kernel/base/durations.js';
import type { Context } from '../kernel/context/context.js';
import type { CreateInvoiceInput } from '../modules/invoices/invoice.model.js';
import { recordPayment } from '../modules/invoices/invoice.payments.js';
import { createInvoice, sendInvoice, voidInvoice } from '../modules/invoices/invoice.service.js';
import { createProduct } from '../modules/products/product.service.js';

/** Name, SKU, price, unit, description. */
const catalog: [string, string, string, string, string][] = [
  ['Website audit', 'AUD-01', '950.00', 'project', 'Speed, search and accessibility, with a written report'],
  ['Onboarding workshop', 'WRK-01', '1200.00', 'project', 'Half a day with the whole team'],
  ['Consulting', 'CON-01', '145.00', 'hour', 'By the hour, in quarters'],
  ['Care plan', 'CAR-01', '89.00', 'month', 'Updates, backups and a person to call'],
  ['Printed welcome kit', 'KIT-01', '24.50', 'each', 'A folder, a handbook and stickers'],
];

/** What an invoice says, and how far it went: part is the share of it that was paid. */
interface Story {
  /** Of the contacts, which one. */
  contact: number;
  /** Of the catalog, which and how many. */
  lines: [product: number, quantity: string][];
  end: 'draft' | 'sent' | 'void' | 'part' | 'paid';
  /** Days in which it is due. */
  due: number;
}

const story = (contact: number, end: Story['end'], lines: Story['lines'], due = 30): Story => ({ contact, end, lines, due });

const [audit, workshop, consulting, care, kit] = [0, 1, 2, 3, 4];

const stories = [
  story(0, 'paid', [
    [audit, '1'],
    [consulting, '3.5'],
  ]),
  story(3, 'paid', [[care, '12']]),
  story(
    5,
    'part',
    [
      [workshop, '1'],
      [kit, '14'],
    ],
    45,
  ),
  story(8, 'sent', [[consulting, '8']], 5),
  story(12, 'sent', [[audit, '1']]),
  story(17, 'void', [[consulting, '0.75']]),
  story(21, 'draft', [
    [workshop, '1'],
    [care, '6'],
  ]),
];

/** A catalog, and invoices in every state that they can be in. */
export async function addMoney(ctx: Context, contacts: string[]): Promise<void> {
  const products: string[] = [];
  for (const [name, sku, price, unit, description] of catalog) {
    products.push((await createProduct(ctx, { name, sku, price, unit, description, taxable: true, isActive: true, currency: 'USD' })).id);
  }
  for (const story of stories) await tell(ctx, story, { products, contacts });
}

async function tell(ctx: Context, { contact, lines, end, due }: Story, { products, contacts }: Record<'products' | 'contacts', string[]>) {
  const dueDate = new Date(ctx.now().getTime() + due * dayMs).toISOString().slice(0, 10);
  const items = lines.map(([n, quantity]) => ({
    description: catalog[n]![0],
    quantity,
    unitPrice: catalog[n]![2],
    productId: products[n]!,
  }));
  const { id, total } = await createInvoice(ctx, {
    contactId: contacts[contact],
    items,
    dueDate,
    taxRate: '0.0825',
    terms: 'No deduction',
  } as CreateInvoiceInput);
  if (end === 'draft') return;
  await sendInvoice(ctx, id);
  if (end === 'void') await voidInvoice(ctx, id);
  if (end === 'part') await recordPayment(ctx, id, { amount: '500.00', method: 'check', reference: 'First instalment' });
  if (end === 'paid') await recordPayment(ctx, id, { amount: String(total), method: 'bank_transfer' });
}
