// Generates TypeScript from the tables: the vocabulary, the command rows and the client's methods.
import { definitionsOf, isOptional } from './json-schema.mjs';

const banner = '// Generated from the protocol tables by scripts/generate.mjs. Do not edit.\n';

/** A schema as a TypeScript type. */
export function typeOf(schema, depth = 0, { top = false } = {}) {
  if (schema.$ref) return schema.$ref;
  if (schema.$id && !top) return schema.$id;
  if (schema.anyOf) return schema.anyOf.map((member) => typeOf(member, depth)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', "'");
  if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayOf(typeOf(schema.items, depth));
    case 'object':
      return schema.properties ? objectType(schema.properties, depth) : 'Record<string, unknown>';
    default:
      return 'unknown';
  }
}

const arrayOf = (item) => (/^\w+$/.test(item) ? `${item}[]` : `(${item})[]`);

export function objectType(properties, depth = 0) {
  const pad = '  '.repeat(depth + 1);
  const fields = Object.entries(properties).map(([name, field]) => {
    const note = field.description && !field.$id ? `${pad}/** ${field.description} */\n` : '';
    const absent = isOptional(field) ? ' | undefined' : '';
    return `${note}${pad}${name}${absent ? '?' : ''}: ${typeOf(field, depth + 1)}${absent};\n`;
  });
  return fields.length === 0 ? 'Record<never, never>' : `{\n${fields.join('')}${'  '.repeat(depth)}}`;
}

export function declaration(name, schema) {
  const note = schema.description ? `/** ${schema.description} */\n` : '';
  const isInterface = schema.type === 'object' && schema.properties && Object.keys(schema.properties).length > 0;
  return isInterface
    ? `${note}export interface ${name} ${objectType(schema.properties)}\n`
    : `${note}export type ${name} = ${typeOf(schema, 0, { top: true })};\n`;
}

export function vocabulary(tables) {
  const named = [...definitionsOf(tables)].map(([name, schema]) => declaration(name, schema));
  const commandMap = Object.entries(tables.commands).map(([name, row]) => {
    const params = objectType(row.params, 2);
    const result = row.result ? typeOf(row.result, 2) : 'undefined';
    return `  /** ${row.doc} */\n  ${name}: {\n    params: ${params};\n    result: ${result};\n  };\n`;
  });
  const eventMap = Object.entries(tables.events).map(([name, row]) => `  ${name}: ${row.schema.$id};\n`);
  const frameMap = Object.entries(tables.frames).map(([name, row]) => `  ${name}: ${row.schema.$id};\n`);
  return `${banner}
${named.join('\n')}
/** Every command with its parameters and its result. */
export interface CommandMap {
${commandMap.join('')}}

export type CommandName = keyof CommandMap;
export type Params<C extends CommandName> = CommandMap[C]['params'];
export type Result<C extends CommandName> = CommandMap[C]['result'];

/** Every record that tau sends except responses. */
export interface EventMap {
${eventMap.join('')}}

export type EventName = keyof EventMap;
export type AgentEvent = EventMap[EventName];

/** Every record that a client sends except commands. */
export interface FrameMap {
${frameMap.join('')}}

export type FrameName = keyof FrameMap;
export type Frame = FrameMap[FrameName];
`;
}

export function eventNames(tables) {
  const names = Object.keys(tables.events).map((name) => `  '${name}',\n`);
  return `${banner}import type { EventName } from './vocabulary.ts';

/** The name of every event, in the order of the tables. */
export const eventNames: readonly EventName[] = [
${names.join('')}];
`;
}

export function commandRows(tables) {
  const rows = Object.entries(tables.commands).map(
    ([name, { lane, scope, returnsContent }]) =>
      `  ${name}: { lane: '${lane}', scope: '${scope}'${returnsContent ? ', returnsContent: true' : ''} },\n`,
  );
  return `${banner}import type { CommandName } from './vocabulary.ts';

export type Lane = 'control' | 'read' | 'session' | 'bash';
export type Scope = 'view' | 'prompt' | 'bash' | 'admin';

/** With \`returnsContent\`, a token needs the scope \`view\` too. */
export const commandRows: Readonly<
  Record<CommandName, { readonly lane: Lane; readonly scope: Scope; readonly returnsContent?: true }>
> = {
${rows.join('')}};
`;
}

/** Generates the values of every named choice, for code that lists or checks them. */
export function choices(tables) {
  const named = [...definitionsOf(tables)].filter(([, schema]) => schema.enum);
  const rows = named.map(([name, schema]) => `  ${name}: [${schema.enum.map((word) => `'${word}'`).join(', ')}],\n`);
  return `${banner}
/** The values of every named choice, in order. */
export const choices = {
${rows.join('')}} as const;
`;
}

const camel = (name) => name.replaceAll(/_([a-z])/g, (_match, letter) => letter.toUpperCase());

export function clientMethods(tables) {
  const methods = Object.entries(tables.commands).map(([name, row]) => {
    const result = row.result ? `Result<'${name}'>` : 'void';
    const fields = Object.values(row.params);
    const takes = fields.length === 0 ? '' : `params: Params<'${name}'>${fields.every(isOptional) ? ' = {}' : ''}`;
    const body = row.result
      ? `return this.call('${name}', ${takes ? 'params' : '{}'});`
      : `await this.call('${name}', ${takes ? 'params' : '{}'});`;
    const head = row.result
      ? `${camel(name)}(${takes}): Promise<${result}>`
      : `async ${camel(name)}(${takes}): Promise<void>`;
    return `  /** ${row.doc} */\n  ${head} {\n    ${body}\n  }\n`;
  });
  return `${banner}import type { CommandName, Params, Result } from '../../protocol/generated/vocabulary.ts';

/** A method per command. */
export abstract class AgentMethods {
  /** Sends a command and waits for its response. */
  abstract call<C extends CommandName>(command: C, params: Params<C>): Promise<Result<C>>;

${methods.join('\n')}}
`;
}

export const versionModule = (version) => `${banner}
/** The version of this package. */
export const version = '${version}';
`;
