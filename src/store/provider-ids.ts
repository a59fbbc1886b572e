// Old ids, by which files of earlier versions of pi name providers.
const renamed: Readonly<Record<string, string>> = { 'azure-openai-responses': 'azure' };

/** The present id of a provider. */
export const currentProviderId = (id: string): string => (Object.hasOwn(renamed, id) ? renamed[id] : undefined) ?? id;

/** A name or pattern of a model with the present id of its provider, if it has one. */
export const currentModelName = (name: string): string => name.replace(/^[^/]+(?=\/)/, currentProviderId);

/** The values by present ids; one with the present id wins over one with an old id. */
export function withCurrentIds<T>(values: ReadonlyMap<string, T>): Map<string, T> {
  const entries = [...values].map(([id, value]): [string, T] => [currentProviderId(id), value]);
  return new Map([...entries, ...[...values].filter(([id]) => currentProviderId(id) === id)]);
}
