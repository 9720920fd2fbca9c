/** What the client package is made of besides its own lines: types of REST from schema/openapi.json, facts for caches and typed documents from schema/schema.graphql. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { codegen } from '@graphql-codegen/core';
import * as typedDocuments from '@graphql-codegen/typed-document-node';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildSchema, getNamedType, getNullableType, isAbstractType, isObjectType, isScalarType, parse } from 'graphql';
import { commonDocuments, pageDocuments } from './client.sources.mjs';

const folder = 'src/generated/client';
const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const refName = ({ $ref }) => $ref.split('/').map(decodeURIComponent);
const unionOf = (types) =>
  types.length === 0 ? 'never' : [...new Set(types)].map((type) => (/ [|&] /.test(type) ? `(${type})` : type)).join(' | ');

/** A JSON schema as a type. */
function typeOf(schema) {
  if (schema === undefined || schema === true || Object.keys(schema).length === 0) return 'unknown';
  if (schema.$ref) return `components['schemas'][${JSON.stringify(refName(schema).at(-1))}]`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return unionOf(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf ?? schema.oneOf) return unionOf((schema.anyOf ?? schema.oneOf).map(typeOf));
  if (schema.allOf) return schema.allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeOf({ ...schema, type })));
  if (schema.type === 'array') return `(${typeOf(schema.items)})[]`;
  if (schema.type === 'object' || schema.properties) return objectOf(schema);
  return { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }[schema.type] ?? 'unknown';
}

function objectOf({ properties = {}, required = [], additionalProperties }) {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  return `Record<string, ${additionalProperties && additionalProperties !== true ? typeOf(additionalProperties) : 'unknown'}>`;
}

function restTypes(document) {
  const followed = (node) =>
    node.$ref
      ? refName(node)
          .slice(1)
          .reduce((at, name) => at[name], document)
      : node;
  const contentOf = (content = {}) =>
    objectOf({
      properties: Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, schema ?? {}])),
      required: Object.keys(content),
    });
  const parameters = (all) => {
    const places = ['query', 'path', 'header'].map((place) => {
      const own = all.map(followed).filter((one) => one.in === place);
      if (own.length === 0) return `${place}?: never`;
      const isNeeded = own.some(({ required }) => required);
      const properties = Object.fromEntries(own.map((one) => [one.name, one.schema ?? Object.values(one.content)[0].schema]));
      const type = objectOf({ properties, required: own.filter(({ required }) => required).map(({ name }) => name) });
      return `${place}${isNeeded ? '' : '?'}: ${type}`;
    });
    return `{ ${places.join('; ')}; cookie?: never }`;
  };
  const operation = ({ parameters: own = [], requestBody, responses }, shared) => {
    const body = requestBody && followed(requestBody);
    const answers = Object.entries(responses).map(
      ([status, answer]) => `${status}: { headers: Record<string, unknown>; content: ${contentOf(followed(answer).content)} }`,
    );
    return `{ parameters: ${parameters([...shared, ...own])}; requestBody${body?.required ? '' : '?'}: ${body ? `{ content: ${contentOf(body.content)} }` : 'never'}; responses: { ${answers.join('; ')} } }`;
  };
  const methods = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head', 'trace'];
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const own = methods.map((method) =>
      item[method] ? `${method}: ${operation(item[method], item.parameters ?? [])}` : `${method}?: never`,
    );
    return `  ${JSON.stringify(path)}: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; ${own.join('; ')} };`;
  });
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => `    ${key(name)}: ${typeOf(schema)};`);
  return `export interface paths {\n${paths.join('\n')}\n}\nexport interface components {\n  schemas: {\n${schemas.join('\n')}\n  };\n}\n`;
}

/** Which root fields are lists and by which arguments they differ, which types have no id and by what they are known instead, which types an abstract one stands for. */
function cacheFacts(schema) {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const lists = Object.fromEntries(
    types
      .filter((type) => isObjectType(type) && !roots.slice(1).includes(type) && type.name !== 'Live')
      .flatMap((type) => {
        const own = Object.values(type.getFields()).filter(
          (field) => getNamedType(field.type).name.endsWith('Connection') && field.args.some(({ name }) => name === 'after'),
        );
        return own.length > 0
          ? [
              [
                type.name,
                Object.fromEntries(own.map(({ name, args }) => [name, args.map((arg) => arg.name).filter((arg) => arg !== 'after')])),
              ],
            ]
          : [];
      }),
  );
  const withoutId = types.filter((type) => isObjectType(type) && !roots.includes(type) && !type.getFields().id).map(({ name }) => name);
  const own = withoutId.map((name) => schema.getType(name));
  const answered = (root, isMeant = () => true) =>
    new Set(
      Object.values(root.getFields())
        .filter(isMeant)
        .map(({ type }) => getNullableType(type)),
    );
  // What an account has one of: read without saying which, and changed.
  const [read, changed] = [answered(schema.getQueryType(), ({ args }) => args.length === 0), answered(schema.getMutationType())];
  const single = own.filter((type) => read.has(type) && changed.has(type)).map(({ name }) => name);
  // Records that are listed, and known by another one, each of which has one of them.
  const keyed = Object.fromEntries(
    own
      .filter(({ name }) => schema.getType(`${name}Connection`))
      .flatMap((type) => {
        const [key] = Object.values(type.getFields()).filter((field) => String(field.type) === 'ID!');
        return key ? [[type.name, key.name]] : [];
      }),
  );
  const possibleTypes = Object.fromEntries(
    types.filter(isAbstractType).map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  );
  const facts = { lists, withoutId, single, keyed, possibleTypes };
  const scalars = types.filter((type) => isScalarType(type)).map(({ name }) => name);
  const typesOf = {
    lists: 'Readonly<Record<string, Readonly<Record<string, string[]>>>>',
    ...{ withoutId: 'readonly string[]', single: 'readonly string[]' },
    ...{ keyed: 'Readonly<Record<string, string>>', possibleTypes: 'Record<string, string[]>' },
  };
  const lines = Object.entries(facts).map(([name, value]) => `export const ${name}: ${typesOf[name]} = ${JSON.stringify(value, null, 1)};`);
  return `${lines.join('\n')}\nexport type ScalarName = ${scalars.map((name) => JSON.stringify(name)).join(' | ')};\n`;
}

/** Writes documents, parsed, with the types of their variables and results. */
async function writeDocuments(name, schema, files) {
  const filename = `${folder}/${name}.ts`;
  const text = await codegen({
    filename,
    schema,
    documents: files.map((location) => ({ location, document: parse(readFileSync(location, 'utf8')) })),
    config: {
      useTypeImports: true,
      enumsAsTypes: true,
      scalars: {
        DateTime: 'string',
        DateOrDateTime: 'string',
        LocalDate: 'string',
        Decimal: 'number',
        JSON: 'unknown',
        JSONObject: 'Record<string, unknown>',
      },
    },
    plugins: [{ operations: {} }, { typedDocuments: {} }],
    pluginMap: { operations, typedDocuments },
  });
  writeFileSync(filename, text);
}

export async function makeClient() {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/rest.ts`, restTypes(JSON.parse(readFileSync('schema/openapi.json', 'utf8'))));
  const schema = readFileSync('schema/schema.graphql', 'utf8');
  writeFileSync(`${folder}/cache.ts`, cacheFacts(buildSchema(schema)));
  await writeDocuments('documents', parse(schema), [commonDocuments]);
  if (pageDocuments.length > 0) await writeDocuments('pages', parse(schema), pageDocuments);
}
