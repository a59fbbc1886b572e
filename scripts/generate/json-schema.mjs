// Generates JSON Schema from the tables, with named shapes as definitions.

/** Collects every named schema that the tables use, in order of first use. */
export function definitionsOf({ commands, events, frames, definitions }) {
  const found = new Map();
  for (const schema of Object.values(definitions)) if (schema?.$id) visit(schema, found);
  for (const row of Object.values(commands)) {
    for (const schema of Object.values(row.params)) visit(schema, found);
    if (row.result) visit(row.result, found);
  }
  for (const row of [...Object.values(events), ...Object.values(frames)]) visit(row.schema, found);
  return found;
}

function visit(schema, found) {
  if (typeof schema !== 'object' || schema === null) return;
  if (schema.$id && !found.has(schema.$id)) found.set(schema.$id, schema);
  for (const inner of children(schema)) visit(inner, found);
}

const children = (schema) => [
  ...Object.values(schema.properties ?? {}),
  ...(schema.anyOf ?? []),
  ...(schema.items ? [schema.items] : []),
];

/** A plain JSON Schema in which named shapes are references. */
export function plain(schema, { top = false } = {}) {
  if (schema.$ref) return { $ref: `#/$defs/${schema.$ref}` };
  if (schema.$id && !top) return { $ref: `#/$defs/${schema.$id}` };
  const { $id: _name, properties, anyOf, items, ...rest } = JSON.parse(JSON.stringify(schema));
  return {
    ...rest,
    ...(properties ? { properties: mapValues(schema.properties, (field) => plain(field)) } : {}),
    ...(anyOf ? { anyOf: schema.anyOf.map((member) => plain(member)) } : {}),
    ...(items ? { items: plain(schema.items) } : {}),
  };
}

export const mapValues = (record, convert) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value, key)]));

/** The parameters of a command as one object. */
export function paramsSchema(row) {
  const required = Object.entries(row.params)
    .filter(([, field]) => !isOptional(field))
    .map(([name]) => name);
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: mapValues(row.params, (field) => plain(field)),
  };
}

export const isOptional = (field) => field['~optional'] === true;

/** The published schema of everything that crosses the wire. */
export function jsonSchema(tables) {
  const named = definitionsOf(tables);
  const id = { description: 'Echoed in the answer as it came.' };
  const command = Object.entries(tables.commands).map(([name, row]) => {
    const params = paramsSchema(row);
    return {
      type: 'object',
      description: row.doc,
      required: ['type', ...(params.required ?? [])],
      properties: { type: { type: 'string', const: name }, id, ...params.properties },
    };
  });
  const success = Object.entries(tables.commands).map(([name, row]) => ({
    type: 'object',
    required: ['type', 'command', 'success', ...(row.result ? ['data'] : [])],
    properties: {
      id,
      type: { type: 'string', const: 'response' },
      command: { type: 'string', const: name },
      success: { type: 'boolean', const: true },
      ...(row.result ? { data: plain(row.result) } : {}),
    },
    additionalProperties: false,
  }));
  const failure = {
    type: 'object',
    required: ['type', 'command', 'success', 'error', 'code'],
    properties: {
      id,
      type: { type: 'string', const: 'response' },
      command: { type: 'string' },
      success: { type: 'boolean', const: false },
      error: { type: 'string' },
      code: { type: 'string', enum: tables.errorCodes },
      holder: { type: 'object', properties: { pid: { type: 'integer' } }, additionalProperties: false },
    },
    additionalProperties: false,
  };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'tau protocol 1',
    description: 'Lines a client sends are `inbound`, lines tau sends are `outbound`.',
    $defs: {
      ...mapValues(Object.fromEntries(named), (definition) => plain(definition, { top: true })),
      inbound: { anyOf: [...command, ...Object.values(tables.frames).map((row) => plain(row.schema))] },
      outbound: { anyOf: [...Object.values(tables.events).map((row) => plain(row.schema)), ...success, failure] },
    },
  };
  return `${JSON.stringify(schema, null, 1)}\n`;
}

/** The schemas with which an agent validates input: parameters, frames and their definitions. */
export function inboundModule(tables) {
  const used = new Map();
  for (const row of Object.values(tables.commands)) for (const field of Object.values(row.params)) visit(field, used);
  for (const row of Object.values(tables.frames)) visit(row.schema, used);
  // A parameter may be named description, too: then its value is a schema, not a text.
  const isNote = (key, value) => key === 'description' && typeof value === 'string';
  const text = (value) => JSON.stringify(value, (key, inner) => (isNote(key, inner) ? undefined : inner), 1);
  return `// Generated from the protocol tables by scripts/generate.mjs. Do not edit.
import type { Definitions, Schema } from '../check.ts';
import type { CommandName, FrameName } from './vocabulary.ts';

export const commandParams: Readonly<Record<CommandName, Schema>> = ${text(mapValues(tables.commands, paramsSchema))};

export const frameSchemas: Readonly<Record<FrameName, Schema>> = ${text(mapValues(tables.frames, (row) => plain(row.schema, { top: true })))};

export const inboundDefinitions: Definitions = ${text(mapValues(Object.fromEntries(used), (schema) => plain(schema, { top: true })))};
`;
}
