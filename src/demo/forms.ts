import { Context } from '../kernel/context/context.js';
import { getContact } from '../modules/contacts/contact.service.js';
import type { FormField } from '../modules/forms/form.model.js';
import { createForm } from '../modules/forms/form.service.js';
import { submitForm } from '../modules/forms/submission.service.js';

/** What the form on the website asks for. */
const fields: FormField[] = [
  { key: 'name', label: 'Your name', type: 'text', required: true, options: null },
  { key: 'email', label: 'E-mail', type: 'email', required: true, options: null },
  { key: 'phone', label: 'Phone', type: 'phone', required: false, options: null },
  { key: 'interest', label: 'What is it about?', type: 'select', required: false, options: ['A quote', 'A demo', 'Support'] },
  { key: 'question', label: 'Your question', type: 'textarea', required: false, options: null },
];

const consent = { required: true, text: 'I agree that you answer me by e-mail or phone.' };

/** What some of the contacts filled in: which of them, and what they want. */
const asked = [
  [2, { interest: 'A demo', question: 'Can we see it next week?' }],
  [9, { interest: 'A quote' }],
  [16, { question: 'Do you work with schools?' }],
] as const;

/** The form on the website, and what came by it. Answers its id. */
export async function addForm(ctx: Context, contacts: string[]): Promise<string> {
  const { id } = await ctx.transaction((inside) =>
    createForm(inside, {
      name: 'Contact us',
      description: 'Tell us what you need. We answer within a day.',
      slug: 'contact-us',
      fields,
      thankYouMessage: 'Thank you. We will be in touch within a day.',
      settings: { tags: ['website'], consent },
      isActive: true,
    }),
  );
  // Whoever fills it in has no credentials.
  const stranger = new Context(ctx.app, { id: ctx.request.id, ip: '192.0.2.10' }, null);
  for (const [n, wish] of asked) {
    const { firstName, lastName, email } = await getContact(ctx, contacts[n]!);
    const data = { name: `${firstName} ${lastName}`, email, ...wish };
    await submitForm(stranger, id, { data, consent: true, source: 'website', utm: { source: 'newsletter' } });
  }
  return id;
}
