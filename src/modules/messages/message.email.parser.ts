import PostalMime, { type Email as Mail, type PostalMimeOptions } from 'postal-mime';
import { htmlOfText, textOfHtml } from './message.html.js';

/** Parts within parts, and bytes of headers, of a mail that is looked at. A mail within a mail is an attachment. */
const limits = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, attachmentEncoding: 'utf8', forceRfc822Attachments: true } as const;

interface Written {
  value: string;
}

/** What takes in the lines of a part, and answers what they say. */
interface Decoder {
  update(line: Uint8Array): void;
  finalize(): Promise<ArrayBuffer>;
}

/** What the library does with a mail, of which its types tell nothing. */
interface Inside {
  /** The texts of each part that has some, of one kind or of both, and what is made of all of them. */
  textMap: ReadonlyMap<object, { plain?: readonly Written[]; html?: readonly Written[] }>;
  textContent: { plain?: string; html?: string };
  /** The part that is being read; it has its decoder once its head has been read. */
  currentNode: { contentDecoder: Decoder | null };
  readLine(): object;
}
const Library = PostalMime as unknown as new (options: PostalMimeOptions) => PostalMime & Inside;

/** Lines that need no decoding, in one piece. */
class Lines implements Decoder {
  #bytes = Buffer.alloc(512);
  #length = 0;

  update(line: Uint8Array): void {
    const end = this.#length + line.length + 1;
    if (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * end);
    this.#bytes.set(line, this.#length);
    this.#bytes[end - 1] = 0x0a;
    this.#length = end;
  }

  async finalize(): Promise<ArrayBuffer> {
    return new Uint8Array(this.#bytes.subarray(0, this.#length)).buffer;
  }
}

/** Whether a decoder is the library's for lines that need none; the others gather what they decode in larger pieces. */
const keepsEachLine = (decoder: Decoder) => !(decoder instanceof Lines || 'maxChunkSize' in decoder);

/**
 * Two steps of the library are replaced, because a mail can be made for which they take very long; tests tell if another version of it
 * does not call them any more. It makes text of HTML where a mail has text elsewhere, which may take minutes; and it keeps each line
 * as two parts of a blob, of which 800,000 take ten seconds to be put together.
 */
class MailReader extends Library {
  override readLine(): object {
    const { currentNode } = this;
    if (currentNode.contentDecoder && keepsEachLine(currentNode.contentDecoder)) currentNode.contentDecoder = new Lines();
    return super.readLine();
  }

  renderTextContent(): void {
    const { textMap, textContent } = this;
    const parts = [...textMap.values()];
    const texts = (written: readonly Written[] | undefined) => written?.map(({ value }) => value);
    textContent.plain = parts.flatMap(({ plain, html }) => texts(plain) ?? texts(html)?.map(textOfHtml) ?? []).join('\n');
    if (!parts.some(({ html }) => html)) return;
    textContent.html = parts.flatMap(({ plain, html }) => texts(html) ?? texts(plain)?.map(htmlOfText) ?? []).join('\n');
  }
}

/** Reads a mail as it came: its text is that of its HTML where it has no other. Throws where it is none. */
export const parseMail = (raw: Uint8Array): Promise<Mail> => new MailReader(limits).parse(raw);
