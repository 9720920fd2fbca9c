import { useMutation, useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { type CardFragment, CreateDealDocument, PipelinesDocument, type PipelinesSubscription } from '../generated/client/pages.js';
import { type Held, useDrag } from './drag.js';
import { Face, Fault, Link, More, money } from './parts.js';
import { nodesOf } from './Talk.js';
import { moved, useBoard } from './useBoard.js';
import { useKeys } from './useKeys.js';

type Pipeline = NonNullable<PipelinesSubscription['live']['pipelines']['rows'][number]['node']>;
type Stage = Pipeline['stages'][number];

export function Board() {
  const { data, error } = useSubscription(PipelinesDocument, { fetchPolicy: 'no-cache' });
  const [chosen, choose] = useState<string>();
  if (error) return <Fault error={error} />;
  if (!data) return null;
  const nodes = nodesOf(data.live.pipelines.rows) as Pipeline[];
  const pipeline = nodes.find(({ id, isDefault }) => (chosen ? id === chosen : isDefault)) ?? nodes[0];
  if (!pipeline) return <main className="muted">There is no pipeline yet.</main>;
  return (
    <main className="deals">
      {nodes.length > 1 && (
        <select aria-label="Pipeline" value={pipeline.id} onChange={(event) => choose(event.target.value)}>
          {nodes.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <Pipe key={pipeline.id} pipeline={pipeline} />
    </main>
  );
}

function Pipe({ pipeline: { id, stages } }: { pipeline: Pipeline }) {
  const { columns, put, error, summary, totalCount } = useBoard(id, stages);
  const { held, handlers } = useDrag(put);
  const [said, say] = useState('');
  const shown = held ? moved(columns, held.id, held.at) : columns;
  const count = [...columns.values()].flat().length;
  const keys = useKeys(columns, (card, place) => {
    put(card.id, place);
    say(`${card.title}: ${stages.find((stage) => stage.id === place.stageId)?.name}, place ${place.index + 1}`);
  });
  return (
    <>
      <Fault error={error} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the cards in it */}
      <div className="board" onKeyDown={keys}>
        {stages.map((stage) => (
          <Column
            key={stage.id}
            stage={stage}
            pipelineId={id}
            cards={shown.get(stage.id) ?? []}
            total={summary?.find(({ stageId }) => stageId === stage.id)?.totalValue}
            held={held}
            handlers={handlers}
          />
        ))}
      </div>
      <More of={totalCount} shown={count} />
      <p className="muted hint">Arrows go from card to card, with Shift they move it, Enter opens its contact, / searches.</p>
      <p className="unseen" aria-live="assertive">
        {said}
      </p>
    </>
  );
}

interface ColumnProps {
  stage: Stage;
  pipelineId: string;
  cards: CardFragment[];
  total: number | undefined;
  held: Held | undefined;
  handlers: ReturnType<typeof useDrag>['handlers'];
}

function Column({ stage, pipelineId, cards, total, held, handlers }: ColumnProps) {
  const [create, { error }] = useMutation(CreateDealDocument);
  const currency = cards[0]?.currency ?? 'USD';
  async function add(title: string) {
    return create({ variables: { input: { title, pipelineId, stageId: stage.id } } }).catch(() => undefined);
  }
  return (
    <section className="column" data-stage={stage.id} aria-label={stage.name} data-over={held?.at.stageId === stage.id}>
      <h2>
        <i className="dot" style={{ background: stage.color }} />
        {stage.name}
        <small>{cards.length}</small>
        <span>{total ? money(total, currency) : ''}</span>
      </h2>
      <ul>
        {cards.map((card) => (
          <Card key={card.id} card={card} held={held?.id === card.id ? held : undefined} handlers={handlers(card.id)} />
        ))}
      </ul>
      <Add add={add} />
      <Fault error={error} />
    </section>
  );
}

function Add({ add }: { add(title: string): Promise<unknown> }) {
  const field = useRef<HTMLInputElement>(null);
  const submit = async () => {
    const title = field.current!.value.trim();
    if (title && (await add(title)) && field.current) field.current.value = '';
  };
  return (
    <form action={submit} className="add">
      <input ref={field} aria-label="Add a deal" placeholder="Add a deal" maxLength={200} autoComplete="off" />
    </form>
  );
}

function Card({ card, held, handlers }: { card: CardFragment; held?: Held; handlers: ReturnType<ColumnProps['handlers']> }) {
  const item = useRef<HTMLLIElement>(null);
  const [isNew, setNew] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setNew(false), 900);
    return () => clearTimeout(timer);
  }, []);
  return (
    <li
      ref={item}
      className="card"
      data-deal={card.id}
      data-held={Boolean(held)}
      data-new={isNew}
      data-status={card.status}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: cards are gone through and moved by keys
      tabIndex={0}
      aria-label={`${card.title}, ${money(card.value, card.currency)}`}
      {...handlers}
    >
      <b>{card.title}</b>
      <span className="grip" data-grip aria-hidden="true" />
      <span className="row">
        {card.contact ? (
          <Link to={`/contacts/${card.contact.id}`} className="muted">
            {card.contact.name}
          </Link>
        ) : (
          <span />
        )}
        <span className="value">{money(card.value, card.currency)}</span>
        {card.assignedUser && <Face name={card.assignedUser.name} />}
      </span>
    </li>
  );
}
