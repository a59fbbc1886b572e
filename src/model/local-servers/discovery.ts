import type { Model } from '../../protocol/generated/vocabulary.ts';
import { JsonServer } from './json-server.ts';
import { llamaCpp } from './llama-cpp.ts';
import { lmStudio } from './lm-studio.ts';
import { ollama } from './ollama.ts';

const defaultPorts = { ollama: 11_434, llamacpp: 8080, lmstudio: 1234 };

/** Where to search for local servers, and for how long. */
export interface LocalServerSearch {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly ports?: Partial<typeof defaultPorts>;
}

/** The models of the servers that run on this machine. Never rejects: a server that fails or is too slow has none. */
export async function discoverLocalModels({ timeoutMs, signal, ports }: LocalServerSearch): Promise<Model[]> {
  const { ollama: ollamaPort, llamacpp, lmstudio } = { ...defaultPorts, ...ports };
  const timeout = AbortSignal.timeout(timeoutMs);
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const found = await Promise.all([
    ollama(new JsonServer(ollamaPort, deadline)),
    llamaCpp(new JsonServer(llamacpp, deadline)),
    lmStudio(new JsonServer(lmstudio, deadline)),
  ]);
  return found.flat();
}
