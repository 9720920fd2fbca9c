import PostalMime, { type Email as Mail } from 'postal-mime';
import { htmlOfText, textOfHtml } from './message.html.js';

/** Parts within parts, and bytes of headers, of a mail that is looked at. A mail within a mail is an attachment. */
const limits = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, attachmentEncoding: 'utf8', forceRfc822Attachments: true } as const;

/** What the library has found when it puts the text of a mail together: the texts of each part, of one kind or of both. */
interface Found {
  textMap: ReadonlyMap<object, { plain?: readonly Written[]; html?: readonly Written[] }>;
  textContent: { plain?: string; html?: string };
}
interface Written {
  value: string;
}

/**
 * The library makes text of HTML only where a mail has text elsewhere, and then takes minutes for HTML that is made for it. A test
 * tells if another version of it does not ask for this any more.
 */
class MailReader extends PostalMime {
  renderTextContent(): void {
    const { textMap, textContent } = this as unknown as Found;
    const parts = [...textMap.values()];
    const texts = (written: readonly Written[] | undefined) => written?.map(({ value }) => value);
    textContent.plain = parts.flatMap(({ plain, html }) => texts(plain) ?? texts(html)?.map(textOfHtml) ?? []).join('\n');
    if (!parts.some(({ html }) => html)) return;
    textContent.html = parts.flatMap(({ plain, html }) => texts(html) ?? texts(plain)?.map(htmlOfText) ?? []).join('\n');
  }
}

/** Reads a mail as it came: its text is that of its HTML where it has no other. Throws where it is none. */
export const parseMail = (raw: Uint8Array): Promise<Mail> => new MailReader(limits).parse(raw);
