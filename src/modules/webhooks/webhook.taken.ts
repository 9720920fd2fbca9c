import { flag, instant, integer, nullable, type RowOf, readerOf, text, uuid, word } from '../../kernel/database/kinds.js';
import type { SourceKind } from './delivery.model.js';

/** Of one account so many deliveries are under way at a time in all processes. */
export const perAccount = 40;

/** What an attempt needs of a delivery, as `delivery_to_make` answers it. */
const due = {
  ...{ messageId: uuid, event: text, body: text, sourceKind: word<SourceKind>(), sourceId: uuid },
  ...{ attemptCount: integer, firstAttemptAt: nullable(instant), url: text, ownSecret: nullable(text) },
  ...{ traceparent: nullable(text), tracestate: nullable(text) },
  ...{ secret: nullable(text), previousSecret: nullable(text), previousSecretUntil: nullable(instant), isWanted: flag },
};
export type Due = RowOf<typeof due>;

export const readDue = readerOf<Due>(due);
