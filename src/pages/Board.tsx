import { useMutation, useSubscription } from '@apollo/client/react';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import {
  BoardDocument,
  type BoardSubscription,
  type CardFragment,
  CardsDocument,
  CreateDealDocument,
  PipelinesDocument,
  type PipelinesSubscription,
} from '../generated/client/pages.js';
import { useDrag } from './drag.js';
import { FirstPipeline } from './FirstPipeline.js';
import { Say } from './fields.js';
import { Face, Fault, Link, More, money, worth } from './parts.js';
import { nodesOf } from './Talk.js';
import { Title } from './Title.js';
import { cardOf, moved, type Show, useBoard } from './useBoard.js';
import { useKeys } from './useKeys.js';
import { useOnce } from './useOnce.js';
import { useReason } from './useReason.js';

type Pipeline = NonNullable<PipelinesSubscription['live']['pipelines']['rows'][number]['node']>;
type Live = BoardSubscription['live'];
type Stage = NonNullable<Live['pipelines']['rows'][number]['node']>['stages'][number];

/** How many cards a page of a column has, as in the document, and how many pages all columns have at most: each is a live query. */
const size = 50;
const most = 120;
const none: Stage[] = [];
const noCards: CardFragment[] = [];

export function Board() {
  const { data, error } = useSubscription(PipelinesDocument, { fetchPolicy: 'no-cache' });
  const [chosen, choose] = useState<string>();
  if (error) return <Fault error={error} />;
  if (!data) return <main className="muted">Loading</main>;
  const { rows, totalCount } = data.live.pipelines;
  const pipelines = nodesOf(rows) as Pipeline[];
  const pipeline = pipelines.find(({ id, isDefault }) => (chosen ? id === chosen : isDefault)) ?? pipelines[0];
  if (!pipeline) return <FirstPipeline />;
  return (
    <main className="deals">
      <Title>Deals</Title>
      {pipelines.length > 1 && (
        <select aria-label="Pipeline" value={pipeline.id} onChange={(event) => choose(event.target.value)}>
          {pipelines.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <More of={totalCount} shown={pipelines.length} />
      <Pipe key={pipeline.id} id={pipeline.id} />
    </main>
  );
}

function Pipe({ id }: { id: string }) {
  const { data, error: fault } = useSubscription(BoardDocument, { variables: { pipelineId: id }, fetchPolicy: 'no-cache' });
  const stages = data?.live.pipelines.rows[0]?.node?.stages ?? none;
  const { columns, show, put, error, dialog } = useBoard(stages);
  const drag = useDrag(put);
  const { held } = drag;
  // The pages of the columns that were asked for more.
  const [pages, setPages] = useState<ReadonlyMap<string, number>>(new Map());
  const pagesOf = (stageId: string) => pages.get(stageId) ?? 1;
  const more = useCallback((stageId: string) => setPages((all) => new Map(all).set(stageId, (all.get(stageId) ?? 1) + 1)), []);
  const isFull = stages.reduce((sum, stage) => sum + pagesOf(stage.id), 0) >= most;
  const [said, say] = useState('');
  const shown = held ? moved(columns, cardOf(columns, held.id), held.at) : columns;
  const keys = useKeys(columns, async (card, place) => {
    say(`${card.title}: ${stages.find((stage) => stage.id === place.stageId)?.name}, place ${place.index + 1}`);
    const isKept = await put(card.id, place);
    if (!isKept) say(`${card.title} stays where it was`);
    return isKept;
  });
  return (
    <>
      <Fault error={fault ?? error} />
      {dialog}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the cards in it */}
      <div className="board" onKeyDown={keys.onKeyDown} onChange={keys.onChange} {...drag.board}>
        {stages.map((stage) => {
          const figures = data?.live.deals.summary.byStage.find(({ stageId }) => stageId === stage.id);
          return (
            <Column
              key={stage.id}
              {...{ stage, stages, show, pipelineId: id, drag: drag.card }}
              {...{ count: figures?.count ?? 0, totalValue: figures?.totalValue, currency: figures?.currency }}
              cards={shown.get(stage.id) ?? noCards}
              heldId={held?.at.stageId === stage.id ? held.id : undefined}
              pages={pagesOf(stage.id)}
              more={isFull ? undefined : more}
            />
          );
        })}
      </div>
      <p id="keys" className="muted hint">
        Arrows go from card to card, with Shift they move it, Enter opens its contact, / searches.
      </p>
      <p className="unseen" aria-live="assertive">
        {said}
      </p>
    </>
  );
}

interface ColumnProps {
  stage: Stage;
  /** All of the pipeline. */
  stages: Stage[];
  pipelineId: string;
  cards: CardFragment[];
  /** What all deals of the stage come to, those included that are not shown. */
  count: number;
  totalValue: number | undefined;
  currency: string | null | undefined;
  /** The card that is held over it. */
  heldId: string | undefined;
  drag: ReturnType<typeof useDrag>['card'];
  show: Show;
  pages: number;
  /** Goes on by a page; none where the board has as many as it may. */
  more: ((stageId: string) => void) | undefined;
}

/** Drawn again only where something of it changes: there may be a hundred. */
const Column = memo(function Column({ stage, stages, pipelineId, cards, heldId, ...props }: ColumnProps) {
  const [create] = useMutation(CreateDealDocument);
  const { send, error, dialog } = useReason();
  const { drag, show, pages, more, count, totalValue, currency } = props;
  const sendOnce = useOnce();
  const add = (title: string) =>
    send(title, (lostReason) => {
      const variables = { input: { title, pipelineId, stageId: stage.id, lostReason } };
      return sendOnce(variables, (context) => create({ variables, context }));
    });
  return (
    <section className="column" data-stage={stage.id} aria-label={stage.name} data-over={heldId !== undefined}>
      <h2>
        <i className="dot" style={{ background: stage.color }} />
        <b title={stage.name}>{stage.name}</b>
        <small>{count}</small>
        <span title={currency ? undefined : 'In several currencies'}>{totalValue ? worth(totalValue, currency) : ''}</span>
      </h2>
      {Array.from({ length: pages }, (_, n) => (
        <Page key={n} stageId={stage.id} page={n + 1} show={show} />
      ))}
      <ul>
        {cards.map((card, n) => (
          <Card key={card.id} card={card} stages={stages} isStop={n === 0} isHeld={heldId === card.id} drag={drag} />
        ))}
      </ul>
      {more && count > pages * size ? (
        <button type="button" className="plain" onClick={() => more(stage.id)}>
          {count - pages * size} more
        </button>
      ) : (
        <More of={count} shown={pages * size} />
      )}
      <Say className="add" label="Add a deal" maxLength={200} send={add} />
      <Fault error={error} />
      {dialog}
    </section>
  );
});

/**
 * A page of a column: its cards stand among the others, which are shown, dragged and gone through together. What comes goes there at
 * once: an effect that hands it on makes React render twice a message, and give up where 50 pages are told in one go.
 */
function Page({ stageId, page, show }: { stageId: string; page: number; show: Show }) {
  const [error, setError] = useState<unknown>();
  useSubscription(CardsDocument, {
    ...{ variables: { stageId, page }, fetchPolicy: 'no-cache', ignoreResults: true },
    onData: ({ data }) => show(stageId, page, nodesOf(data.data!.live.deals.rows) as CardFragment[]),
    onError: setError,
  });
  return <Fault error={error} />;
}

/** What a screen reader says of a card: all that it shows. */
const nameOf = ({ title, value, currency, contact, assignedUser }: CardFragment) =>
  [title, money(value, currency), contact?.name, assignedUser?.name && `assigned to ${assignedUser.name}`].filter(Boolean).join(', ');

interface MoveProps {
  card: CardFragment;
  stages: Stage[];
}

/** Moves a card without dragging it. Tab passes it by: with Shift the arrows do the same. */
function Move({ card, stages }: MoveProps) {
  // A hundred stages in each of thousands of cards are too many: until somebody comes to it, it has its own alone.
  const [isReached, setReached] = useState(false);
  const reach = () => setReached(true);
  return (
    <select aria-label={`Move ${card.title} to`} tabIndex={-1} defaultValue={card.stageId} onPointerEnter={reach} onFocus={reach}>
      {stages.map(({ id, name }) =>
        isReached || id === card.stageId ? (
          <option key={id} value={id}>
            {name}
          </option>
        ) : null,
      )}
    </select>
  );
}

interface CardProps extends MoveProps {
  /** Whether Tab stops at it: once a column, the arrows go on from there. */
  isStop: boolean;
  isHeld: boolean;
  drag: ColumnProps['drag'];
}

const Card = memo(function Card({ card, stages, isStop, isHeld, drag }: CardProps) {
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
      data-held={isHeld}
      data-new={isNew}
      data-status={card.status}
      tabIndex={isStop ? 0 : -1}
      aria-label={nameOf(card)}
      aria-describedby={isStop ? 'keys' : undefined}
      {...drag(card.id)}
    >
      <b>{card.title}</b>
      <span className="grip" data-grip aria-hidden="true" />
      <Move card={card} stages={stages} />
      <span className="row">
        {card.contact ? (
          <Link to={`/contacts/${card.contact.id}`} className="muted" isSkipped>
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
});
