import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Peer, WireRecord } from '../clients/peer.ts';
import { type Home, newHome } from './test-agent.ts';

/** Path of an extension written against pi's public API. */
export const fixture = (name: string) => join(import.meta.dirname, '../../fixtures/extensions', `${name}.ts`);

/** Path of a file in examples/. */
export const example = (name: string) => join(import.meta.dirname, '../../../examples', name);

/** Writes an extension of the user and returns its path. Messages wait for it, however slow the machine is. */
export function userExtension({ agentDir }: Home, name: string, code: string): string {
  const settings = join(agentDir, 'settings.json');
  const before = existsSync(settings) ? (JSON.parse(readFileSync(settings, 'utf8')) as object) : {};
  writeTextFile(settings, JSON.stringify({ startWaitMs: 3_600_000, ...before }));
  return writeTextFile(join(agentDir, 'extensions', name), code);
}

/** Writes an extension of the project and returns its path. */
export function projectExtension({ cwd }: Home, name: string, code: string): string {
  return writeTextFile(join(cwd, '.pi', 'extensions', name), code);
}

export function writeTextFile(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/**
 * Creates a home with one extension that registers these commands. Each handler body can use `args`, `ctx`, `pi` and
 * `tell`, which notifies with JSON; `more` precedes the registrations.
 */
export function homeWithCommands(commands: Record<string, string>, more = '', home: Home = newHome()) {
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

type UiRequest = WireRecord & { id: string; method: string };

const isRequest = (method: string) => (record: WireRecord) =>
  record.type === 'extension_ui_request' && record['method'] === method;

/** Returns the next `extension_ui_request` with this method. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export const nextUiRequest = (peer: Peer, method: string): Promise<any> => peer.next(isRequest(method));

/** Answers the next dialog with this method and returns the request. */
export async function answerDialog(peer: Peer, method: string, reply: object): Promise<UiRequest> {
  const request = (await nextUiRequest(peer, method)) as UiRequest;
  peer.send({ type: 'extension_ui_response', id: request.id, ...reply });
  return request;
}

/** All requests with this method, in order. */
export const allUiRequests = ({ records }: Peer, method: string): WireRecord[] => records.filter(isRequest(method));

/** Returns the next value that an extension sent as JSON with `notify`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export const nextNotification = async (peer: Peer): Promise<any> =>
  JSON.parse((await nextUiRequest(peer, 'notify')).message);

/** All values that extensions have sent as JSON with `notify`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export const allNotifications = (peer: Peer): any[] =>
  allUiRequests(peer, 'notify').map(({ message }) => JSON.parse(String(message)));

export const callTool = (name: string, args: object) => ({ steps: [{ toolCall: { name, arguments: args } }] });

export const bash = (command: string) => callTool('bash', { command });

/** Extension code that waits until a file exists; `path` is an expression. */
export const waitForFileCode = (path: string) => `await (async (path) => {
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
