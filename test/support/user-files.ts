import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Home, newHome } from './open.ts';

/** What a user has written into the agent folder: an object, or a text as it stands. */
export interface UserFiles {
  readonly models?: unknown;
  readonly auth?: unknown;
  readonly settings?: unknown;
}

/** A user with these files, who tries again at once. */
export function homeWith({ models, auth, settings = {} }: UserFiles): Home {
  const home = newHome();
  mkdirSync(home.agentDir, { recursive: true });
  const patient = typeof settings === 'string' ? settings : { retry: { enabled: false }, ...(settings as object) };
  for (const [name, content] of Object.entries({ models, auth, settings: patient })) {
    if (content === undefined) continue;
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    writeFileSync(join(home.agentDir, `${name}.json`), text, { mode: 0o600 });
  }
  return home;
}

/** What stands in a file of the agent folder now. */
export const fileText = ({ agentDir }: Home, name: string): string => readFileSync(join(agentDir, name), 'utf8');

/** A provider of the user's own at this address, as models.json describes it. */
export const server = (baseUrl: string, more: object = {}) => ({
  baseUrl,
  api: 'openai-completions',
  models: [{ id: 'm' }],
  ...more,
});

/** Writes files below the root of a user. */
export function write({ root }: Home, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}
