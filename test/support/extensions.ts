import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Home, newHome } from './open.ts';
import type { Peer, Record_ } from './peer.ts';

/** An extension that was written from pi's public API. */
export const fixture = (name: string) => join(import.meta.dirname, '../fixtures/extensions', `${name}.ts`);

/** One of the examples that tau brings along. */
export const example = (name: string) => join(import.meta.dirname, '../../examples', name);

/** Writes an extension of the user; answers its file. */
export function userExtension({ agentDir }: Home, name: string, code: string): string {
  return written(join(agentDir, 'extensions', name), code);
}

/** Writes an extension of the project. */
export function projectExtension({ cwd }: Home, name: string, code: string): string {
  return written(join(cwd, '.pi', 'extensions', name), code);
}

export function written(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/**
 * A user with one extension, made of these commands: what each handler does with `args`, `ctx`, `pi` and `tell`. More may
 * stand before them.
 */
export function commandHome(commands: Record<string, string>, more = '') {
  const home = newHome();
  const registered = Object.entries(commands).map(
    ([name, body]) => `pi.registerCommand('${name}', { handler: async (args, ctx) => { ${body} } });`,
  );
  const path = userExtension(
    home,
    'commands.ts',
    `export default (pi) => {
      const tell = (ctx, value) => ctx.ui.notify(JSON.stringify(value));
      ${more}
      ${registered.join('\n')}
    };`,
  );
  return { home, path };
}

type Request = Record_ & { id: string; method: string };

const isRequest = (method: string) => (record: Record_) =>
  record.type === 'extension_ui_request' && record['method'] === method;

/** The next thing that an extension wants to show by this method. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export const shown = (peer: Peer, method: string): Promise<any> => peer.next(isRequest(method));

/** Waits for the next dialog of this kind and answers it; answers the dialog. */
export async function answer(peer: Peer, method: string, reply: object): Promise<Request> {
  const request = (await shown(peer, method)) as Request;
  peer.send({ type: 'extension_ui_response', id: request.id, ...reply });
  return request;
}

/** Everything that was shown by this method, in order. */
export const allShown = ({ records }: Peer, method: string): Record_[] => records.filter(isRequest(method));

/** The next thing that an extension told as JSON by `notify`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export const told = async (peer: Peer): Promise<any> => JSON.parse((await shown(peer, 'notify')).message);

/** Everything that extensions told as JSON by `notify` so far. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export const allTold = (peer: Peer): any[] =>
  allShown(peer, 'notify').map(({ message }) => JSON.parse(String(message)));

export const call = (name: string, args: object) => ({ steps: [{ toolCall: { name, arguments: args } }] });

export const bash = (command: string) => call('bash', { command });

/** Code of an extension that waits until a file is there; `path` is code, too. */
export const untilThere = (path: string) => `await (async (path) => {
  const [{ existsSync, watch }, { dirname }] = await Promise.all([import('node:fs'), import('node:path')]);
  await new Promise((resolve) => {
    const watcher = watch(dirname(path), look);
    function look() {
      if (!existsSync(path)) return;
      watcher.close();
      resolve();
    }
    look();
  });
})(${path});`;
