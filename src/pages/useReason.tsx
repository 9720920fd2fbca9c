import { type FormEvent, useEffect, useRef, useState } from 'react';
import { errorOf } from '../client/errors.js';
import { useGone } from './unkept.js';
import { teller } from './useTold.js';

/** What a stage asks about a deal: why it is lost, in words of its own where it lists some. */
interface Question {
  nth: number;
  title: string;
  options: readonly string[];
  answer(reason: string): void;
}

/** The reasons that a refusal offers, none where any text will do; undefined where it asks for no reason. */
function optionsIn(refusal: unknown): readonly string[] | undefined {
  const told = errorOf(refusal);
  const fault = 'details' in told ? told.details?.find(({ field }) => field === 'lostReason') : undefined;
  return fault && (fault.options ?? []);
}

/** Sends changes of deals; what is refused for want of a reason is sent again with the one that is given. */
export function useReason() {
  const [question, ask] = useState<Question>();
  const [error, setError] = useState<unknown>();
  const last = useRef<{ nth: number; answered: Promise<unknown> }>({ nth: 0, answered: Promise.resolve() });
  const isGone = useGone();
  /** What is answered to a question, when those before it are answered; nothing where its page is left. */
  function reasonOf(title: string, options: readonly string[]): Promise<string> {
    const nth = last.current.nth + 1;
    const asked = () => new Promise<string>((answer) => ask({ nth, title, options, answer }));
    const answered = last.current.answered.then(() => (isGone() ? '' : asked()));
    last.current = { nth, answered };
    return answered.finally(() => ask(undefined));
  }
  /** The reason that is given after a refusal; none where it is to stay refused, which is told. */
  async function reasonAfter(refusal: unknown, title: string, tell: ReturnType<typeof teller>): Promise<string | undefined> {
    const options = optionsIn(refusal);
    if (!options) setError(refusal);
    const reason = options && (await reasonOf(title, options));
    if (!reason && isGone()) tell(`“${title}”`, refusal, options && 'nobody said why it is lost');
    return reason;
  }
  /** Whether it was done. Nobody is asked or told about what is not wanted any more. */
  async function send(title: string, attempt: (lostReason?: string) => Promise<unknown>, isWanted = () => true): Promise<boolean> {
    setError(undefined);
    const tell = teller('/');
    for (let reason: string | undefined; ; ) {
      try {
        await attempt(reason);
        return true;
      } catch (refusal) {
        if (!isWanted()) return false;
        reason = await reasonAfter(refusal, title, tell);
        if (!reason) return false;
      }
    }
  }
  return { send, error, dialog: question && <Reason key={question.nth} {...question} /> };
}

/** The dialog of a question. The browser keeps the keys in it, closes it by Escape, and gives the focus back. */
function Reason({ title, options, answer }: Omit<Question, 'nth'>) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  // Whoever goes back leaves it without an answer, and others may wait behind it.
  useEffect(() => () => answer(''), [answer]);
  const close = (reason: string) => dialog.current?.close(reason);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    close(String(new FormData(event.currentTarget).get('reason')).trim());
  }
  return (
    <dialog ref={dialog} className="card-box dialog reason" aria-labelledby="reason" onClose={() => answer(dialog.current!.returnValue)}>
      <h2 id="reason">Why is {title} lost?</h2>
      {options.map((option) => (
        <button key={option} type="button" onClick={() => close(option)}>
          {option}
        </button>
      ))}
      {options.length === 0 && (
        <form className="say" onSubmit={submit}>
          <input name="reason" required maxLength={500} aria-label="The reason" autoComplete="off" />
          <button type="submit">Go on</button>
        </form>
      )}
      <button type="button" className="plain" onClick={() => close('')}>
        Cancel
      </button>
    </dialog>
  );
}
