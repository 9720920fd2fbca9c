import type { RawReply } from './routes.js';

const policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";

interface PageOptions {
  /** The words of a button that posts to the page's own address. */
  button?: string;
  /** A line in small print. */
  note?: string;
}

/** A plain page that a link of ours leads to. Its words must be ours: nothing is escaped. */
export const htmlPage = (title: string, text: string, { button, note }: PageOptions = {}): RawReply => ({
  type: 'text/html; charset=utf-8',
  headers: { 'Content-Security-Policy': policy },
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<style>body{font:16px system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style></head>
<body><h1>${title}</h1><p>${text}</p>${button ? `<form method="post"><button>${button}</button></form>` : ''}
${note ? `<p><small>${note}</small></p>` : ''}</body></html>`,
});
