import type { AnyTable } from './table.js';

type Class = abstract new (...args: never[]) => object;

/** A field that leads from what an operation answers, which is no record itself, to a record whose id is in it. */
export interface AnswerField {
  /** The type of the answer, or of a part of it. */
  of: Class;
  /** The member of it that holds the id; none, or what is no id, leads nowhere. */
  key: string;
  /** The table of the record; none where the member `recordType` says its type. */
  to?: AnyTable;
  name: string;
  description: string;
}

/** Such fields as data: `recordsOf(EnrollDetail, { contact: [contactTable, 'contactId', 'The contact'] })`. */
export const recordsOf = (of: Class, fields: Record<string, readonly [to: AnyTable, key: string, description: string]>): AnswerField[] =>
  Object.entries(fields).map(([name, [to, key, description]]) => ({ of, key, to, name, description }));

/** A field `record` of answers that lead to records of several types, by their members `recordType` and `recordId`. */
export const polymorphicRecord = (of: Class, description: string): AnswerField[] => [{ of, key: 'recordId', name: 'record', description }];
