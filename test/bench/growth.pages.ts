/** A record of a list, as far as values for its parameters are taken from it. */
export type Sample = Record<string, unknown>;

interface Schema {
  type?: string | string[];
  format?: string;
  enum?: string[];
  items?: Schema;
  $ref?: string;
}

interface Parameter {
  $ref?: string;
  name?: string;
  in?: string;
  description?: string;
  schema?: Schema;
}

/** The published document, as far as it tells of lists. */
export interface Document {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>;
  components: { schemas: Record<string, Schema> };
}

/** A first page in both accounts. */
export interface Page {
  title: string;
  paths: [string, string];
  /** Whether a parameter narrows it. */
  isFiltered: boolean;
}

type Samples = [Sample[], Sample[]];

// A key may not read the ones, the other is no page, the feed of events is no list (it is read on from where somebody stopped), and
// duplicates are looked for among all contacts each time.
const leftOut = ['/api-keys', '/contacts/export', '/events', '/contacts/duplicates'];
/** Parameters that have no values of their own: orders, which are asked with the sorts, trees, and the board, which is another list. */
const noFilters = ['sort', 'order', 'filters', 'cf', 'view'];
/** Parameters that say what of the records is shown. */
const shows = ['include', 'minimal'];

const nobody = '00000000-0000-4000-8000-000000000000';
const day = 24 * 60 * 60 * 1000;
const daysFromNow = (days: number) => new Date(Date.now() + days * day).toISOString();

/** The member of records that a parameter asks about: assigned_to is assignedTo, tag_ids and search have others. */
function memberOf(name: string): string {
  if (name === 'search') return 'search';
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/^(stage|pipeline)$/, '$1Id');
}

const named = ['name', 'firstName', 'title', 'subject', 'invoiceNumber'];

/** What a record holds of a parameter, as a query string says it. */
function heldBy(record: Sample, name: string): string | undefined {
  if (name === 'search') return heldText(named.map((one) => record[one]).find((one) => one))?.split(' ')[0];
  if (name === 'tag' || name === 'tags') return heldText((record.tags as { name: string }[] | undefined)?.[0]?.name);
  return heldText(record[memberOf(name)]);
}

const heldText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** Values that a parameter takes, the same in both accounts. */
function fixedValues(name: string, { type, format, enum: words }: Schema): string[] {
  if (words) return words;
  if (type === 'boolean') return ['true', 'false'];
  if (format === 'uuid') return [nobody];
  if (/(^|_)(from|after)(_|$)/.test(name)) return [daysFromNow(-9999), daysFromNow(-2), daysFromNow(9999)];
  if (/(^|_)(to|before)(_|$)/.test(name)) return [daysFromNow(9999), daysFromNow(-9999)];
  if (name === 'number') return ['+19995550100'];
  if (name === 'stale') return ['true', '30'];
  if (name === 'min_score') return ['1', '50', '99', '1000'];
  if (type === 'integer' || [type].flat().includes('number')) return ['1000', '49000', '900000'];
  return ['zzqqxx'];
}

interface Choice {
  label: string;
  values: [string, string];
}

function choicesOf(name: string, schema: Schema, samples: Samples): Choice[] {
  const same = fixedValues(name, schema).map((value): Choice => ({ label: value, values: [value, value] }));
  const [small, large] = samples.map((records) => records.map((record) => heldBy(record, name)).find((value) => value !== undefined));
  if (schema.enum || small === undefined || large === undefined) return same;
  return [...same, { label: schema.format === 'uuid' ? 'one of them' : large, values: [small, large] }];
}

/** The schema of one value that a parameter takes. */
function schemaOf({ schema = {} }: Parameter, { components }: Document): Schema {
  const one = schema.items ?? schema;
  return one.$ref ? components.schemas[one.$ref.split('/').at(-1)!]! : one;
}

const refersTo = (parameters: Parameter[], name: string) => parameters.some(({ $ref }) => $ref?.endsWith(`/${name}`));

/**
 * Every list of the document that is paged, as it comes, with each of its sort keys both ways, with values of each of its filters,
 * and with its total estimated and not found at all.
 */
export async function pagesOf(
  document: Document,
  only: string[] | undefined,
  recordsOf: (paths: [string, string]) => Promise<Samples>,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    const all = get?.parameters ?? [];
    const parameters = all.filter((one) => one.in === 'query' && !one.description?.startsWith('Another name for'));
    const sorts = parameters.find(({ name }) => name === 'sort')?.schema?.enum ?? [];
    if (!refersTo(all, 'per_page') || leftOut.includes(path) || (only && !only.includes(path))) continue;
    const places = await placesOf(path, recordsOf);
    if (!places) continue;
    const page = (query: string, queries = [query, query], isFiltered = false): Page => ({
      ...{ title: path + query, isFiltered },
      paths: [places[0] + queries[0], places[1] + queries[1]],
    });
    const sorted = sorts.flatMap((sort) => ['asc', 'desc'].map((order) => page(`?sort=${sort}&order=${order}`)));
    const counted = refersTo(all, 'count') ? ['estimated', 'none'].map((count) => page(`?count=${count}`)) : [];
    const samples = await recordsOf(places);
    const filtered = parameters.flatMap(({ name = '', ...parameter }) => {
      if (noFilters.includes(name)) return [];
      const choices = choicesOf(name, schemaOf(parameter, document), samples);
      return choices.map(({ label, values }) =>
        page(
          `?${name}=${label.replaceAll('|', '')}`,
          values.map((value) => `?${name}=${encodeURIComponent(value)}`),
          !shows.includes(name),
        ),
      );
    });
    pages.push(page(''), ...sorted, ...counted, ...filtered);
  }
  return pages;
}

/** A list's path in each account, below a record where it is a record's; undefined where there is none. */
async function placesOf(path: string, recordsOf: (paths: [string, string]) => Promise<Samples>): Promise<[string, string] | undefined> {
  if (!path.includes('{')) return [path, path];
  const [parents] = path.split('/{');
  const ids = (await recordsOf([parents!, parents!])).map((records) => records.at(-1)?.id);
  if (ids.some((id) => typeof id !== 'string')) return undefined;
  return ids.map((id) => path.replace(/\{\w+\}/, id as string)) as [string, string];
}
