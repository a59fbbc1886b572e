import type { Schema } from '../../../src/protocol/check.ts';
import { commandParams, inboundDefinitions } from '../../../src/protocol/generated/inbound.ts';
import type { CommandName } from '../../../src/protocol/generated/vocabulary.ts';

export const commandNames = Object.keys(commandParams) as CommandName[];

export type Fields = Record<string, unknown>;

/** Sample values for the required parameters of a command. */
export const sampleParams = (name: CommandName): Fields => sampleObject(commandParams[name], required);

/** Sample values for all parameters of a command. */
export const fullParams = (name: CommandName): Fields => sampleObject(commandParams[name], every);

/** Follows a `$ref`. */
export function resolveSchema(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const target = inboundDefinitions[schema.$ref.replace('#/$defs/', '')];
  if (!target) throw new Error(`No definition for ${schema.$ref}`);
  return resolveSchema(target);
}

type Choice = (schema: Schema) => readonly string[];
const required: Choice = (schema) => schema.required ?? [];
const every: Choice = (schema) => Object.keys(schema.properties ?? {});

function sampleObject(schema: Schema, choice: Choice): Fields {
  const fields = choice(schema).map((name) => [name, sample(schema.properties?.[name] ?? {}, choice)]);
  return {
    ...Object.fromEntries(fields),
    ...('mimeType' in (schema.properties ?? {}) ? { mimeType: 'image/png' } : {}),
  };
}

function sample(schema: Schema, choice: Choice): unknown {
  const plain = resolveSchema(schema);
  if (plain.anyOf) return sample(plain.anyOf[0] ?? {}, choice);
  if (plain.const !== undefined) return plain.const;
  if (plain.enum) return plain.enum[0];
  switch (plain.type) {
    case 'string':
      return 'sample';
    case 'integer':
    case 'number':
      return Math.max(1, plain.minimum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return [sample(plain.items ?? {}, choice)];
    case 'object':
      return sampleObject(plain, choice);
    default:
      return null;
  }
}
