/** The embedding door: an agent inside this process, spoken to like any other. */
import { readFile } from 'node:fs/promises';
import { AgentClient } from './client/client.ts';
import { type EngineOptions, openEngine } from './engine/open.ts';
import { agentDir, sessionDirFor } from './store/agent-dir.ts';
import { memoryPair } from './wire/memory.ts';

export { AgentClient, CommandFailed } from './client/client.ts';
export { ConnectionLost } from './client/connection-lost.ts';
export { EventsLost } from './client/event-stream.ts';
export type { PromptRun } from './client/prompt-run.ts';
export { Refusal } from './protocol/errors.ts';
export type * from './protocol/generated/vocabulary.ts';

export interface OpenAgentOptions
  extends Partial<Omit<EngineOptions, 'first' | 'script' | 'model' | 'sessionDirectory'>> {
  /** The model as `provider/id`. */
  readonly model?: string;
  /** A file with answers for the built-in model, as docs/scripted-model.md describes it. */
  readonly script?: string;
  /** A session file to open or make; without it nothing is kept on disk unless `keep` is set. */
  readonly session?: string;
  /** Keep a new session on disk, where pi keeps them or in `sessionDirectory`. */
  readonly keep?: boolean;
  readonly sessionDirectory?: string;
}

/** An agent that lives in this process. */
export interface LocalAgent extends AsyncDisposable {
  readonly client: AgentClient;
  /** Stops whatever runs and lets go of the session. */
  close(): Promise<void>;
}

/** Opens an agent in this process and a client that speaks to it. */
export async function openAgent(options: OpenAgentOptions = {}): Promise<LocalAgent> {
  const cwd = options.cwd ?? process.cwd();
  const env = options.env ?? process.env;
  const root = options.agentDir ?? agentDir(env);
  const { session, keep, model, script, sessionDirectory, ...rest } = options;
  const engine = await openEngine({
    ...rest,
    model: model === undefined ? undefined : modelNamed(model),
    script: script === undefined ? undefined : await scriptIn(script),
    cwd,
    env,
    agentDir: root,
    sessionDirectory: (folder) => sessionDirectory ?? sessionDirFor(root, folder),
    first: session !== undefined ? { kind: 'file', path: session, create: true } : { kind: keep ? 'new' : 'memory' },
    dialect: { stream: 'delta', ...options.dialect },
  });
  const [inside, outside] = memoryPair();
  const client = new AgentClient(outside);
  engine.connect(inside);
  const close = async () => {
    await engine.close();
    client.close();
  };
  return { client, close, [Symbol.asyncDispose]: close };
}

function modelNamed(name: string): { provider: string; id: string } {
  const [provider = '', ...id] = name.split('/');
  return { provider, id: id.join('/') };
}

async function scriptIn(path: string) {
  const { parseScript } = await import('./model/scripted/script.ts');
  return parseScript(await readFile(path, 'utf8'), path);
}
