import { useMutation } from '@apollo/client/react';
import { type FormEvent, useEffect, useRef } from 'react';
import { type SaidFragment, SendSmsDocument } from '../generated/client/pages.js';
import { Fault, More, when } from './parts.js';

/** The records of a live list. */
export const nodesOf = <N,>(rows: readonly { node?: N | null }[]) => rows.map(({ node }) => node as N);

/** A form of one line, emptied once what it says is kept. */
export function Say({ label, button, send }: { label: string; button: string; send(text: string): Promise<unknown> }) {
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get('text')).trim();
    if (text && (await send(text))) form.reset();
  }
  return (
    <form className="say" onSubmit={submit}>
      <input name="text" aria-label={label} placeholder={label} autoComplete="off" />
      <button type="submit">{button}</button>
    </form>
  );
}

/** What a message says without its markup. */
export const plain = (text: string) => text.replace(/<[^>]*>/g, ' ').trim();

export const channels: Record<string, string> = { sms: 'SMS', email: 'E-mail' };

interface TalkProps {
  contactId: string;
  messages: readonly SaidFragment[];
  canWrite: boolean;
  /** How many messages there are in all. */
  total: number;
}

/** What was said with a contact, the newest at the end, and what to answer. */
export function Talk({ contactId, messages, canWrite, total }: TalkProps) {
  const [sendSms, { error }] = useMutation(SendSmsDocument);
  const send = (body: string) => sendSms({ variables: { input: { contactId, body } } }).catch(() => undefined);
  const list = useRef<HTMLOListElement>(null);
  const last = messages.at(-1)?.id;
  useEffect(() => {
    if (last) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last]);
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
          </li>
        ))}
      </ol>
      {messages.length === 0 && <p className="muted">Nothing was said yet.</p>}
      <Fault error={error} />
      {canWrite && <Say label="Write a text message" button="Send" send={send} />}
    </>
  );
}
