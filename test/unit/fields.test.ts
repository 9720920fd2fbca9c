import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { contract } from '../../src/app.js';
import type { AppError } from '../../src/kernel/base/errors.js';
import type { Context } from '../../src/kernel/context/context.js';
import { clean } from '../../src/kernel/model/cleaning.js';
import { rulesOf } from '../../src/kernel/model/fieldRules.js';
import { Draft, Edit, Entity, Flag, Id, Input, JsonObject, Nested, OneOf, Stamp, Text, Texts } from '../../src/kernel/model/fields.js';

// Made before the types below are known: it is the schema of this worker, and other tests look at all that it has.
contract();

@Entity('What a widget has inside')
class Part {
  @Text(5, 'Label', { required: true }) label: string;
}

@Input('A part')
class PartInput extends Draft(Part) {}

@Entity('What a caller may write of a widget')
class WidgetFields {
  @Text(10, 'Name', { required: true }) name: string;
  @Text(10, 'Note') note: string | null;
  @Text(10, 'Status', { optional: true }) status: string;
  @OneOf(['1-10', '11-50'], 'Size') size: string | null;
  @Flag('Whether it is on') on: boolean | null;
  @Texts(2, 5, 'Labels') labels: string[] | null;
  @JsonObject(1, 'More', { optional: true }) more: object;
  @Nested(
    () => Part,
    () => PartInput,
    'Parts',
    { list: 2 },
  )
  parts: Part[] | null;
}

@Entity('A widget')
class Widget extends WidgetFields {
  @Id() id: string;
  @Stamp('When it was made') createdAt: Date;
}

@Input('A new widget')
class CreateWidget extends Draft(WidgetFields) {}

@Input('Changes to a widget')
class UpdateWidget extends Edit(CreateWidget) {}

const ctx = {} as Context;
const names = (target: object) => rulesOf(target).map((rule) => rule.name);

function faults(type: new () => object, value: object): string[] {
  try {
    clean(type, value, ctx);
    return [];
  } catch (error) {
    return (error as AppError).details!.map(({ field, message }) => `${field} ${message}`);
  }
}

describe('the rules of a class', () => {
  it('are its ancestors’ and its own, each once', () => {
    const written = ['name', 'note', 'status', 'size', 'on', 'labels', 'more', 'parts'];
    expect(names(Widget)).toEqual([...written, 'id', 'createdAt']);
    expect(names(CreateWidget)).toEqual(written);
    expect(names(UpdateWidget)).toEqual(written);
  });

  it('carry what the document tells of a field', () => {
    const rule = rulesOf(CreateWidget).find(({ name }) => name === 'labels')!;
    expect(rule).toMatchObject({ description: 'Labels', list: true, required: false, schema: { maxItems: 2, items: { maxLength: 5 } } });
  });
});

describe('cleaning an input', () => {
  it('trims, takes empty text for null, and leaves what is absent absent', () => {
    const value = { name: ' w ', note: ' ', labels: [' a '], size: '' };
    expect(faults(CreateWidget, value)).toEqual([]);
    expect(value).toEqual({ name: 'w', note: null, labels: ['a'], size: null });
  });

  it('names every field at fault at once, with its place', () => {
    const value = {
      name: ' ',
      status: null,
      size: '5',
      labels: ['abcdef', ''],
      more: null,
      parts: [{ label: 'toolong' }, { label: null }],
    };
    expect(faults(UpdateWidget, value)).toEqual([
      'name must not be empty',
      'status must not be null',
      'size must be one of 1-10, 11-50',
      'labels.0 must be at most 5 characters',
      'labels.1 must not be empty',
      'more must not be null',
      'parts.0.label must be at most 5 characters',
      'parts.1.label must not be null',
    ]);
  });

  it('takes null in a creation for what is left out, where that may be', () => {
    const value = { name: 'w', note: null, status: null, more: null };
    expect(faults(CreateWidget, value)).toEqual([]);
    expect(value).toEqual({ name: 'w' });
    expect(faults(CreateWidget, { name: null })).toEqual(['name must not be null']);
  });

  it('lets a change leave out what a creation needs, and not make it null', () => {
    expect(faults(UpdateWidget, {})).toEqual([]);
    expect(faults(UpdateWidget, { note: null, parts: null })).toEqual([]);
    expect(faults(UpdateWidget, { name: null })).toEqual(['name must not be null']);
  });

  it('says 413 of what is too large', () => {
    expect(() => clean(CreateWidget, { more: { a: 'x'.repeat(1024) } }, ctx)).toThrow(
      expect.objectContaining({ status: 413, field: 'more' }),
    );
  });
});
