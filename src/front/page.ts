import { type Html, html } from '../kernel/base/html.js';
import type { RawReply } from '../kernel/module/routes.js';

interface PageParts {
  title: string;
  body: Html;
  styles: readonly string[];
  scripts: readonly string[];
  /** Whether it is a tool of somebody else's that sets styles by itself and runs workers. */
  isTool?: boolean;
}

/**
 * What a page may do: load our own files and talk to us. Scripts are files, never text of the page. A form of ours is sent by its script
 * alone: before that runs, the browser would put what was typed into the address.
 */
const policy = (isTool = false) =>
  [
    ...["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'"],
    ...[`form-action '${isTool ? 'self' : 'none'}'`, "frame-ancestors 'none'"],
    ...(isTool
      ? ["style-src 'self' 'unsafe-inline'", "font-src 'self' data:", "img-src 'self' data: blob:", "worker-src 'self' blob:"]
      : ["style-src 'self'", "img-src 'self' data:"]),
  ].join('; ');

/** A page of the front, for people who build with the API. */
export const page = ({ title, body, styles, scripts, isTool }: PageParts): RawReply => ({
  type: 'text/html; charset=utf-8',
  headers: {
    'Content-Security-Policy': policy(isTool),
    // Its requests say where they come from: those with the session's cookie are refused otherwise.
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
    Vary: 'Accept',
  },
  body: html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="icon" href="data:,">
${styles.map((href) => html`<link rel="stylesheet" href="${href}">`)}
${scripts.map((src) => html`<script src="${src}" defer></script>`)}</head>
${body}</html>`.text,
});

const mainLinks: readonly [string, string][] = [
  ['/', 'Start'],
  ['/guide', 'Guide'],
  ['/docs', 'REST'],
  ['/graphql', 'GraphQL'],
];

/** The bar on top of every page: its links, and who is logged in. */
export const bar = (here: string, more: readonly [string, string][] = []): Html => html`<nav class="bar"><b>CRM server</b>
${[...mainLinks, ...more].map(([href, name]) => (href === here ? html`<a href="${href}" aria-current="page">${name}</a>` : html`<a href="${href}">${name}</a>`))}
<span class="who" data-who></span></nav>`;
