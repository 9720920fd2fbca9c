import { createHash } from 'node:crypto';
import type { AppError } from '../base/errors.js';
import { Html, html } from '../base/html.js';
import type { RawReply } from './routes.js';

const style = `body{font:16px system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem;overflow-wrap:anywhere}
button,input,select,textarea{font:inherit;padding:.5rem}
input:not([type=checkbox]),select,textarea{display:block;box-sizing:border-box;width:100%;margin:.25rem 0 1rem}p{white-space:pre-line}
[hidden]{display:none}.error{color:#b00020}`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** What a page of ours may do: show itself in its own style, and send its form to us, and on to where we send it. */
const policyOf = (formTargets: readonly string[]) =>
  [
    ...["default-src 'none'", `style-src 'sha256-${styleHash}'`, "base-uri 'none'", "frame-ancestors 'none'"],
    `form-action ${["'self'", ...formTargets].join(' ')}`,
  ].join('; ');

/** Bytes of a body that a form of our own pages sends at most: a button alone, or a password. */
export const formBytes = 4096;

interface PageOptions {
  /** The words of a button that posts to the page's own address. */
  button?: string;
  /** A line in small print. */
  note?: string;
  /** Origins that a form of the page may be sent on to, besides our own. */
  formTargets?: readonly string[];
}

/** A plain page that a link of ours leads to, without any script. Texts are escaped. */
export const htmlPage = (title: string, content: string | Html, { button, note, formTargets = [] }: PageOptions = {}): RawReply => ({
  type: 'text/html; charset=utf-8',
  headers: { 'Content-Security-Policy': policyOf(formTargets) },
  body: html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${new Html(style)}</style></head>
<body><h1>${title}</h1>${content instanceof Html ? content : html`<p>${content}</p>`}
${button && html`<form method="post"><button>${button}</button></form>`}
${note && html`<p><small>${note}</small></p>`}</body></html>`.text,
});

/** Refusals of now: the same request may be taken later. */
const notNow = [429, 503];

/** An error as a person sees it who followed a link or sent a form. A browser that loads the page again sends the form once more. */
export function errorPage({ status, message }: AppError, wasSent = false): RawReply {
  const again = wasSent && notNow.includes(status) && html`<p>Load this page again to send it once more.</p>`;
  return { ...htmlPage('This did not work', html`<p>${message}</p>${again}`), status };
}
