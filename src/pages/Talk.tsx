import { useEffect, useRef, useState } from 'react';
import type { ReachedFragment, SaidFragment } from '../generated/client/pages.js';
import { More, when } from './parts.js';
import { Write, waysTo } from './Write.js';

/** The records of a live list. */
export const nodesOf = <N,>(rows: readonly { node?: N | null }[]) => rows.map(({ node }) => node as N);

/** What a message says without its markup. */
export const plain = (text: string) => text.replace(/<[^>]*>/g, ' ').trim();

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
            <p>{plain(message.body)}</p>
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
