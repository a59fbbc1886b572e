import type { Model } from '../protocol/generated/vocabulary.ts';
import { JsonServer } from './local-servers/json-server.ts';
import { llamaCpp } from './local-servers/llama-cpp.ts';
import { lmStudio } from './local-servers/lm-studio.ts';
import { ollama } from './local-servers/ollama.ts';

/** Where the servers listen when nobody says otherwise. */
const usualPorts = { ollama: 11_434, llamacpp: 8080, lmstudio: 1234 };

/** What to look for, and how long. */
export interface Search {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly ports?: Partial<typeof usualPorts>;
}

/**
 * The models of the servers that run on this machine. Never rejects: whoever does not answer in time, or answers
 * something else, has none.
 */
export async function lookForLocalServers({ timeoutMs, signal, ports }: Search): Promise<Model[]> {
  const { ollama: ollamaPort, llamacpp, lmstudio } = { ...usualPorts, ...ports };
  const limit = AbortSignal.timeout(timeoutMs);
  const until = signal ? AbortSignal.any([signal, limit]) : limit;
  const found = await Promise.all([
    ollama(new JsonServer(ollamaPort, until)),
    llamaCpp(new JsonServer(llamacpp, until)),
    lmStudio(new JsonServer(lmstudio, until)),
  ]);
  return found.flat();
}
