import { isObject } from '../../../protocol/json.ts';

const MARK = 'x-mcp-header';
const HEADER_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_TYPES = ['string', 'integer', 'boolean'];

/** True if arguments of the tool also travel in HTTP headers (revision 2026-07-28). */
export const declaresHeaders = (inputSchema: object): boolean => JSON.stringify(inputSchema).includes(`"${MARK}"`);

/** Why the header declarations of a tool are invalid; undefined if they are fine. Such a tool must not be offered. */
export function headerProblem(inputSchema: object): string | undefined {
  const names = new Set<string>();
  const found = countMarks(inputSchema);
  let checked = 0;
  const checkProperties = (schema: unknown): string | undefined => {
    const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
    for (const property of Object.values(properties)) {
      if (!isObject(property)) continue;
      const problem = MARK in property ? problemOf(property, names) : undefined;
      if (MARK in property) checked++;
      const inner = problem ?? checkProperties(property);
      if (inner !== undefined) return inner;
    }
    return undefined;
  };
  return checkProperties(inputSchema) ?? (checked < found ? `${MARK} is not directly on a property` : undefined);
}

function problemOf(property: Readonly<Record<string, unknown>>, names: Set<string>): string | undefined {
  const name = property[MARK];
  if (typeof name !== 'string' || !HEADER_TOKEN.test(name)) return `${MARK} is not the name of a header`;
  if (!HEADER_TYPES.includes(String(property['type']))) return `${MARK} is on a property that is not a plain value`;
  if (names.has(name.toLowerCase())) return `${MARK} ${name} is there twice`;
  names.add(name.toLowerCase());
  return undefined;
}

// A property may itself have the name of the mark; it then holds a schema.
function countMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countMarks(item), 0);
  if (!isObject(value)) return 0;
  const own = MARK in value && !isObject(value[MARK]) ? 1 : 0;
  return Object.values(value).reduce((sum: number, item) => sum + countMarks(item), own);
}
