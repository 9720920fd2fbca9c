import { useEffect, useRef, useState } from 'react';
import type { ReachedFragment, SaidFragment } from '../generated/client/pages.js';
import { More, when } from './parts.js';
import { Write, waysTo } from './Write.js';

/** The records of a live list. */
export const nodesOf = <N,>(rows: readonly { node?: N | null }[]) => rows.map(({ node }) => node as N);

/** What only an e-mail that is written as HTML has: one of its usual elements. */
const isHtml = /<(!doctype|html|body|p|div|br|span|table|a|b|i|em|strong|u|ul|ol|h[1-6]|img|font|blockquote|pre|hr|center)(\s[^<>]*)?\/?>/i;
/** Each of these takes what does not end to the end of the text: looked for again at each sign, one mail would hold the tab up. */
const markup =
  /<(style|script|title)(?=[\s/>])[^>]*>[\s\S]*?(?:<\/\1(?=[\s/>])[^>]*(?:>|$)|$)|<!--(?:-?>|[\s\S]*?(?:-->|$))|<[!/]?[a-z][^>]*(?:>|$)/gi;

type Body = Pick<SaidFragment, 'body' | 'channel'>;
/** What messages say, by themselves: those that did not change stay the same objects, however often a list comes. */
const texts = new WeakMap<Body, string>();

/** What a message says without its markup. A text message has none: what stands in it between angle brackets is what somebody wrote. */
export function plain(message: Body): string {
  const text = texts.get(message) ?? textOf(message);
  texts.set(message, text);
  return text;
}

function textOf({ body, channel }: Body): string {
  if (channel !== 'email' || !isHtml.test(body)) return body.trim();
  // Names of characters, as `&amp;`: a document that is not shown, in which nothing runs.
  const text = new DOMParser().parseFromString(body.replace(markup, ' '), 'text/html').body.textContent;
  return text.replace(/[^\S\n]+/g, ' ').trim();
}

export const channels: Record<string, string> = { sms: 'SMS', email: 'E-mail' };

interface TalkProps {
  person: ReachedFragment | undefined;
  messages: readonly SaidFragment[];
  /** How many messages there are in all. */
  total: number;
}

/** What was said with a contact, the newest at the end, and what to answer. */
export function Talk({ person, messages, total }: TalkProps) {
  const [answered, answer] = useState<SaidFragment>();
  const list = useRef<HTMLOListElement>(null);
  const last = messages.at(-1)?.id;
  useEffect(() => {
    if (last) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last]);
  const canMail = person && waysTo(person).includes('email');
  return (
    <>
      <More of={total} shown={messages.length} />
      <ol ref={list}>
        {messages.map((message) => (
          <li key={message.id} data-from={message.direction}>
            {message.subject && <b>{message.subject}</b>}
            <p>{plain(message)}</p>
            <small>
              {channels[message.channel] ?? message.channel} · {when(message.createdAt)}
              {message.direction === 'outbound' && ` · ${message.status}`}
            </small>
            {canMail && message.channel === 'email' && message.direction === 'inbound' && (
              <button type="button" className="plain" onClick={() => answer({ ...message })}>
                Answer
              </button>
            )}
          </li>
        ))}
      </ol>
      {messages.length === 0 && <p className="muted">Nothing was said yet.</p>}
      {person && <Write person={person} answered={answered} />}
    </>
  );
}
