import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Home, newHome } from './test-agent.ts';

/** Content of files in the agent folder: an object, or the text of the file. */
export interface UserFiles {
  readonly models?: unknown;
  readonly auth?: unknown;
  readonly settings?: unknown;
}

/** Creates a home with these files; failed model calls are not retried. */
export function homeWithFiles({ models, auth, settings = {} }: UserFiles): Home {
  const home = newHome();
  mkdirSync(home.agentDir, { recursive: true });
  const withoutRetry = typeof settings === 'string' ? settings : { retry: { enabled: false }, ...(settings as object) };
  for (const [name, content] of Object.entries({ models, auth, settings: withoutRetry })) {
    if (content === undefined) continue;
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    writeFileSync(join(home.agentDir, `${name}.json`), text, { mode: 0o600 });
  }
  return home;
}

/** Current text of a file in the agent folder. */
export const agentFileText = ({ agentDir }: Home, name: string): string => readFileSync(join(agentDir, name), 'utf8');

/** A custom provider at this address, as models.json describes it. */
export const providerConfig = (baseUrl: string, more: object = {}) => ({
  baseUrl,
  api: 'openai-completions',
  models: [{ id: 'm' }],
  ...more,
});

/** Writes files below the root of a home. */
export function writeFiles({ root }: Home, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}
