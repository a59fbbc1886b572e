import type { Model } from '../../protocol/generated/vocabulary.ts';
import { type JsonServer, objectOf, type Said } from './json-server.ts';
import { listed, localModel, tokens } from './local-model.ts';

/** How many models are asked about at the same time. */
const AT_ONCE = 8;

/** The models of Ollama. */
export async function ollama(server: JsonServer): Promise<Model[]> {
  const [installed, running] = await Promise.all([server.ask('/api/tags'), server.ask('/api/ps')]);
  const ids = listed(installed?.['models'], 'name').map(({ id }) => id);
  const windows = new Map(listed(running?.['models'], 'name').map(({ id, entry }) => [id, entry['context_length']]));
  const models: Model[][] = ids.map(() => []);
  const left = ids.entries();
  const askOn = async () => {
    for (const [index, id] of left) {
      const shown = await server.ask('/api/show', { model: id });
      // Of what did not answer in time nobody knows how much it can read.
      if (shown) models[index] = modelOf({ id, port: server.port, window: tokens(windows.get(id)) }, shown);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  return models.flat();
}

interface Found {
  readonly id: string;
  readonly port: number;
  /** With which it runs, where it does. */
  readonly window: number | undefined;
}

function modelOf({ id, port, window }: Found, shown: Said): Model[] {
  const { capabilities } = shown;
  const can = (what: string) => Array.isArray(capabilities) && capabilities.includes(what);
  // What only makes vectors of texts cannot answer.
  if (Array.isArray(capabilities) && !can('completion')) return [];
  return [
    localModel({
      provider: 'ollama',
      port,
      id,
      contextWindow: window ?? smaller(chosenWindow(shown), largestWindow(shown)),
      seesImages: can('vision'),
      thinks: can('thinking'),
      ...(Array.isArray(capabilities) ? { usesTools: can('tools') } : {}),
    }),
  ];
}

/** What the model was made to run with, as a line of its parameters. */
function chosenWindow(shown: Said | undefined): number | undefined {
  const [, digits] = /^num_ctx\s+(\d+)\s*$/m.exec(String(shown?.['parameters'])) ?? [];
  return tokens(Number(digits));
}

/** What the model was trained for, under the name of its architecture. */
function largestWindow(shown: Said | undefined): number | undefined {
  const [, length] =
    Object.entries(objectOf(shown?.['model_info']) ?? {}).find(([key]) => key.endsWith('.context_length')) ?? [];
  return tokens(length);
}

const smaller = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
