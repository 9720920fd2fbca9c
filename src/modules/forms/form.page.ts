import { createHash } from 'node:crypto';
import { v5 } from 'uuid';
import { dayMs } from '../../kernel/base/durations.js';
import { type AppError, badRequest, check } from '../../kernel/base/errors.js';
import { type Html, html } from '../../kernel/base/html.js';
import { nilId } from '../../kernel/base/ids.js';
import type { Context } from '../../kernel/context/context.js';
import { logUnavailable } from '../../kernel/context/unavailableLog.js';
import { fromDatabase } from '../../kernel/database/errors.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import { htmlPage } from '../../kernel/module/page.js';
import type { RawReply } from '../../kernel/module/routes.js';
import type { FormField } from './form.model.js';
import type { FormRow } from './form.service.js';
import { consentOf } from './form.settings.js';
import { placeOf } from './form.values.js';
import type { Submitted } from './submission.model.js';
import { isKept, openForm, submitOpen } from './submission.service.js';

/** What was filled in so far, by the names of the inputs. */
type Said = URLSearchParams;

const fieldNames = 'data.';
const nameOf = ({ key }: FormField) => `${fieldNames}${key}`;
const utmNames = ['source', 'medium', 'campaign', 'content', 'term'].map((name) => `utm_${name}`);

const inputTypes = { text: 'text', email: 'email', phone: 'tel', number: 'number' } as const;

/** What browsers call the texts of a contact, by our names: they offer to fill in what they know of their user. */
const purposes: Record<string, string> = {
  ...{ name: 'name', firstName: 'given-name', lastName: 'family-name', email: 'email', phone: 'tel' },
  ...{ company: 'organization', jobTitle: 'organization-title', addressLine1: 'address-line1', addressLine2: 'address-line2' },
  ...{ city: 'address-level2', state: 'address-level1', zip: 'postal-code' },
};

function purpose(field: FormField): Html | false {
  const place = placeOf(field);
  // HTML lets none of these texts stand in an input for numbers.
  return field.type !== 'number' && place !== undefined && html` autocomplete="${purposes[place]}"`;
}

/** Without a value of its own an option is sent as its text, of whose blanks HTML makes one. */
const valueAttribute = (option: string) => option.includes('  ') && html` value="${option}"`;

function input(field: FormField, said: Said): Html {
  const { type, required, options } = field;
  const [name, value] = [nameOf(field), said.get(nameOf(field)) ?? ''];
  const must = html`${purpose(field)}${required && html` required`}`;
  if (type === 'textarea')
    return html`<textarea name="${name}" rows="5" maxlength="10000"${must}>
${value}</textarea>`;
  if (type === 'select') {
    const offered = (options ?? []).map((one) => html`<option${valueAttribute(one)}${one === value && html` selected`}>${one}</option>`);
    return html`<select name="${name}"${must}><option value=""></option>${offered}</select>`;
  }
  return html`<input name="${name}" type="${inputTypes[type]}"${type === 'number' && html` step="any"`} value="${value}"${must}>`;
}

const labelled = (field: FormField, said: Said) => html`<label>${field.label}${field.required && ' *'}${input(field, said)}</label>`;

/** The words at the box that is ticked; null where nothing is to be agreed to. */
function wordingOf({ settings }: FormRow): string | null {
  const asked = consentOf(settings);
  return asked && (asked.text ?? 'I agree');
}

/** The input that holds what a page asked, since a form may be edited while it is filled in. */
const nameOfAsked = '_asked';
const markOf = (asked: unknown) => createHash('sha256').update(JSON.stringify(asked)).digest('base64url');

/** A mark of the wording, and one of the fields. */
const marksOf = (form: FormRow) => [wordingOf(form), form.fields.map(({ key }) => key)].map(markOf);
const hiddenMarks = (form: FormRow) => html`<input type="hidden" name="${nameOfAsked}" value="${marksOf(form).join('.')}">`;

/** What is another now than the page asked. Of HTML without these marks, which is somebody's own, nobody knows: nothing. */
function changedSince(form: FormRow, said: Said): { wording: boolean; fields: boolean } {
  const [wording, fields] = marksOf(form);
  const [wordingThen = wording, fieldsThen = fields] = said.get(nameOfAsked)?.split('.') ?? [];
  return { wording: wordingThen !== wording, fields: fieldsThen !== fields };
}

function agreement(form: FormRow, said: Said): Html | null {
  const wording = wordingOf(form);
  if (wording === null) return null;
  // Who agreed to another wording has not agreed to this one.
  const isTicked = said.has('consent') && !changedSince(form, said).wording;
  const marks = html`${isTicked && html` checked`}${consentOf(form.settings)?.required && html` required`}`;
  return html`<p><label><input type="checkbox" name="consent" value="true"${marks}> ${wording}</label></p>`;
}

const isAgreed = (said: Said) => said.get('consent') === 'true';

/** What was filled in for fields that the form had when its page was shown, and has no more: `key: text`. */
function lostWords({ fields }: FormRow, said: Said): string[] {
  const names = new Set(fields.map(nameOf));
  const isLost = ([name, text]: [string, string]) => name.startsWith(fieldNames) && !names.has(name) && text.trim() !== '';
  return [...said].filter(isLost).map(([name, text]) => `${name.slice(fieldNames.length)}: ${text}`);
}

/** What the visitor would not be told if this was kept by the form of now; undefined where it is what the page asked. */
function faultOfChange(form: FormRow, said: Said): string | undefined {
  const changed = changedSince(form, said);
  const lost = changed.fields ? lostWords(form, said) : [];
  const faults = [
    ...(changed.wording && isAgreed(said) ? ['What you agree to has changed since this page was shown to you.'] : []),
    ...(lost.length > 0 ? ['The fields have changed since this page was shown to you. This is not asked for any more:', ...lost] : []),
  ];
  return faults.length > 0 ? ['Look at the form again, and send it once more.', ...faults].join('\n') : undefined;
}

/** Invisible to people, and to programs that read a page to them; machines fill it in. */
const trap = html`<div hidden><label>Leave this empty<input name="_hp_field" tabindex="-1" autocomplete="off"></label></div>`;

/** Where the visitor comes from goes along. */
const campaign = (said: Said) =>
  utmNames.filter((name) => said.has(name)).map((name) => html`<input type="hidden" name="${name}" value="${said.get(name)}">`);

/**
 * What tells one page from every other, and when it was made. The button has it: a browser sends it along with a click as with Enter.
 */
const nameOfPage = '_once';
const newPage = (ctx: Context) => `${ctx.now().getTime()}.${ctx.app.clock.id()}`;

/**
 * The id of what a page sends: the same for the same words of the same page, so that a second click, or a page of thanks that is loaded
 * again, makes no second submission. Undefined after a day, as an `Idempotency-Key` is forgotten: a copy of the page may go on for years.
 * What the page asked is no word of them: a form may be edited before its page is shown again.
 */
function idOf(ctx: Context, form: FormRow, said: Said): string | undefined {
  const age = ctx.now().getTime() - Number.parseInt(said.get(nameOfPage) ?? '', 10);
  const words = new URLSearchParams([...said].filter(([name]) => name !== nameOfAsked));
  return age < dayMs ? v5(`${form.id} ${words}`, nilId) : undefined;
}

interface Shown {
  fault?: string;
  /** What is sent with the same name and the same words is the same submission. */
  once?: string;
}

function page(ctx: Context, form: FormRow, said: Said, { fault, once = newPage(ctx) }: Shown = {}): RawReply {
  const { name, description, fields, redirectUrl } = form;
  const content = html`${description && html`<p>${description}</p>`}${fault && html`<p class="error" role="alert">${fault}</p>`}
<form method="post">${fields.map((field) => labelled(field, said))}${agreement(form, said)}${trap}${hiddenMarks(form)}${campaign(said)}
<button name="${nameOfPage}" value="${once}">Send</button></form>`;
  // A browser holds the address that we send it on to, to be one that the form may go to.
  return htmlPage(name, content, { formTargets: redirectUrl ? [new URL(redirectUrl).origin] : [] });
}

/** GET /f/{id}: the form as a page that needs no script. What the address says of the campaign goes along. */
export async function showForm(ctx: Context, { params, query }: CallbackRequest): Promise<RawReply> {
  const { form } = await openForm(ctx, params.id ?? '');
  const said = new URLSearchParams();
  for (const name of utmNames) if (typeof query[name] === 'string') said.set(name, query[name].slice(0, 500));
  return page(ctx, form, said);
}

/**
 * The form as it was filled in, with what is wrong. Of what could not be kept now (503) nobody knows whether it was: sent again as it is,
 * it comes from the same page, and so is kept once.
 */
function shownAgain(ctx: Context, form: FormRow, said: Said, { status, message, retryAfter = 1 }: AppError): RawReply {
  if (status !== 503) return { ...page(ctx, form, said, { fault: message }), status };
  const once = idOf(ctx, form, said) && said.get(nameOfPage)!;
  const shown = page(ctx, form, said, { fault: `${message}: send it once more`, once });
  return { ...shown, status, headers: { ...shown.headers, 'Retry-After': String(retryAfter) } };
}

function thanks({ redirectUrl, thankYouMessage }: Pick<Submitted, 'redirectUrl' | 'thankYouMessage'>): RawReply {
  // As the URL is written, which is ASCII: a header takes nothing else.
  if (redirectUrl) return { status: 303, headers: { Location: new URL(redirectUrl).href }, type: 'text/plain', body: '' };
  return htmlPage('Thank you', thankYouMessage ?? 'We have received it.');
}

const inputOf = ({ fields }: FormRow, said: Said) => ({
  data: Object.fromEntries(fields.map((field) => [field.key, (said.get(nameOf(field)) ?? '').replace(/\r\n/g, '\n')])),
  consent: isAgreed(said),
  utm: Object.fromEntries(utmNames.filter((name) => said.has(name)).map((name) => [name, said.get(name)])),
  _hp_field: said.get('_hp_field'),
});

/** POST /f/{id}: what the page sends. Sent on or thanked; or shown again with what is wrong, as it was filled in. */
export async function takeForm(ctx: Context, { params, headers, body }: CallbackRequest): Promise<RawReply> {
  const open = await openForm(ctx, params.id ?? '');
  const { form, acting } = open;
  check(/^application\/x-www-form-urlencoded\b/i.test(headers['content-type']?.toString() ?? ''), () =>
    badRequest('The body must be what a form sends: application/x-www-form-urlencoded'),
  );
  const said = new URLSearchParams(body.toString());
  const id = idOf(ctx, form, said);
  try {
    const fault = faultOfChange(form, said);
    if (!fault) return thanks(await submitOpen(open, inputOf(form, said), id));
    // A page of thanks that is loaded again was kept before the form changed.
    return id && (await isKept(acting, id)) ? thanks(form) : shownAgain(ctx, form, said, badRequest(fault));
  } catch (error) {
    const known = fromDatabase(error);
    if (known?.status !== 400 && known?.status !== 503) throw error;
    logUnavailable(ctx.app, known, ctx.request);
    return shownAgain(ctx, form, said, known);
  }
}
