import { type TProperties, type TSchema, Type } from 'typebox';

/** Builds the schema of an object with exactly these fields. A name makes it a separate definition. */
export const object = <P extends TProperties>(properties: P, name?: string, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...label(name, description) });

/** A string out of a closed set. */
export const choice = (values: readonly string[], name?: string, description?: string) =>
  Type.Unsafe({ type: 'string', enum: [...values], ...label(name, description) });

/** A union of shapes that differ in a constant field such as `type` or `role`. */
export const union = (members: TSchema[], name?: string, description?: string) =>
  Type.Union(members, label(name, description));

/** A field that is sent as `null` when it has no value. */
export const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()]);

/** A JSON object whose fields tau does not define. */
export const freeform = (description?: string) => Type.Unsafe({ type: 'object', ...label(undefined, description) });

/** Refers to a named definition, for recursive shapes. */
export const reference = (name: string) => Type.Ref(name);

export const text = (description?: string) => Type.String(label(undefined, description));
export const nonEmpty = (description?: string) => Type.String({ minLength: 1, ...label(undefined, description) });
export const count = (description?: string) => Type.Integer({ minimum: 0, ...label(undefined, description) });
export const positiveCount = (description?: string) => Type.Integer({ minimum: 1, ...label(undefined, description) });
export const amount = (description?: string) => Type.Number(label(undefined, description));
export const flag = (description?: string) => Type.Boolean(label(undefined, description));
export const list = (items: TSchema, description?: string) => Type.Array(items, label(undefined, description));
export const literal = (value: string | number | boolean) => Type.Literal(value);
export const optional = Type.Optional;
export const unknown = Type.Unknown;

const label = (name?: string, description?: string) => ({
  ...(name === undefined ? {} : { $id: name }),
  ...(description === undefined ? {} : { description }),
});
