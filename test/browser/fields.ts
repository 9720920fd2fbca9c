import type { HTTPRequest, Page } from 'puppeteer-core';
import { eventually } from '../support/live.js';
import type { Screen } from './screen.js';

/** Writes into a field in place of what is there. */
export async function fill(screen: Screen, selector: string, text: string): Promise<void> {
  const field = await screen.find(selector);
  await field.evaluate((element) => (element as HTMLInputElement).select());
  await field.press('Backspace');
  if (text) await field.type(text);
}

export const written = (screen: Screen, selector: string) => screen.page.$eval(selector, (field) => (field as HTMLInputElement).value);
export const textOf = (screen: Screen, selector: string) => screen.page.$eval(selector, (element) => element.textContent);

/** The name of the field or button that has the focus. */
export const focused = ({ page }: Screen) =>
  page.evaluate(() => document.activeElement?.getAttribute('name') ?? document.activeElement?.textContent);

/** What a screen reader says of the field that has the focus: its name, whether it is wrong, and why. */
export async function spoken({ page }: Screen): Promise<{ name?: string; invalid?: unknown; description?: string }> {
  const { nodes } = await (await page.createCDPSession()).send('Accessibility.getFullAXTree');
  const isFocused = (told: (typeof nodes)[number]) => told.properties?.some((own) => own.name === 'focused' && own.value.value);
  const told = nodes.find((one) => one.role?.value === 'textbox' && isFocused(one))!;
  const { name, description, properties } = told;
  return { name: name?.value, invalid: properties?.find((own) => own.name === 'invalid')?.value.value, description: description?.value };
}

/** Waits until what a tab sends stops here first: a frame goes on by its old way for a moment after the browser has agreed. */
async function isHeld(page: Page): Promise<void> {
  let isSeen = false;
  const look = (request: HTTPRequest) => {
    isSeen ||= request.url().endsWith('/healthz');
  };
  page.on('request', look);
  await eventually(async () => {
    await page.evaluate(() => fetch('/healthz').then((answer) => answer.text()));
    return isSeen;
  });
  page.off('request', look);
}

/** Whether a request is of an operation of GraphQL, or goes to an endpoint whose path begins like this. */
const isOf = (request: HTTPRequest, what: string) =>
  what.startsWith('/')
    ? new URL(request.url()).pathname.startsWith(`/api/v1${what}`)
    : request.postData()?.includes(`"operationName":"${what}"`);

/** What a tab sends of one operation, or to such endpoints, held until it is let go or lost; all else passes. */
export async function holding({ page }: Screen, what: string, play: (next: () => Promise<HTTPRequest>) => Promise<void>): Promise<void> {
  const held: HTTPRequest[] = [];
  const take = (request: HTTPRequest) => {
    if (isOf(request, what)) held.push(request);
    else void request.continue();
  };
  await page.setRequestInterception(true);
  page.on('request', take);
  try {
    await isHeld(page);
    await play(async () => {
      await eventually(() => held.length > 0, 5000);
      return held.shift()!;
    });
  } finally {
    page.off('request', take);
    await page.setRequestInterception(false);
  }
}
