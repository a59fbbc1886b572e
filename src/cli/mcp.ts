import { createInterface } from 'node:readline';
import type { SignInPrompt } from '../extend/mcp/oauth/sign-in.ts';
import { resolveTarget, type WebEndpoint } from '../extend/mcp/server-target.ts';
import { messageOf } from '../protocol/errors.ts';
import { type McpEntry, readMcpFiles } from '../store/mcp/mcp-file.ts';
import { readMcpSignIn } from '../store/mcp/mcp-sign-ins.ts';
import { terminalJson, terminalText } from '../system/terminal-text.ts';
import { cliPaths } from './engine-options.ts';
import { type CliArguments, UsageError } from './flags/flags.ts';
import { printAndExit } from './stdio.ts';
import { textTable } from './text-table.ts';

// The input of a verb.
interface McpVerbContext {
  readonly args: CliArguments;
  readonly words: readonly string[];
  readonly root: string;
  readonly cwd: string;
  readonly servers: ReadonlyMap<string, McpEntry>;
}

const verbs: Readonly<Record<string, (context: McpVerbContext) => Promise<number>>> = {
  list: listVerb,
  login: loginVerb,
  logout: logoutVerb,
};

/** `tau mcp <verb>`: lists the configured MCP servers, signs in to them and out of them. */
export async function mcp(args: CliArguments): Promise<number> {
  const [, verb = 'list', ...words] = args.positionals;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`tau mcp takes ${Object.keys(verbs).join(', ')}, not ${JSON.stringify(verb)}`);
  if (args.json && verb !== 'list') throw new UsageError('--json goes with tau mcp list');
  const { cwd, root, project } = cliPaths(args);
  const { servers, problems } = readMcpFiles({ agentDir: root, cwd, trusted: project.trusted });
  for (const problem of problems) warn(problem);
  try {
    return await run({ args, words, root, cwd, servers });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warn(`tau: ${messageOf(error)}`);
    return 1;
  }
}

async function listVerb({ args, words, root, servers }: McpVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau mcp list takes no ${JSON.stringify(words[0])}`);
  const rows = [...servers].map(([name, entry]) => ({
    name,
    target: entry.url === undefined ? [entry.command, ...(entry.args ?? [])].join(' ') : withoutQuery(entry.url),
    disabled: entry.disabled,
    signedIn: entry.url !== undefined && readMcpSignIn(root, entry.url)?.tokens !== undefined,
  }));
  if (args.json) return printAndExit(rows.map((row) => `${terminalJson(JSON.stringify(row))}\n`).join(''));
  if (rows.length === 0) return printAndExit('No MCP servers.\n');
  const stateOf = ({ disabled, signedIn }: (typeof rows)[number]) =>
    [disabled ? 'disabled' : '', signedIn ? 'signed in' : ''].filter(Boolean).join(', ');
  const cells = rows.map((row) => [row.name, stateOf(row), row.target]);
  return printAndExit(textTable(['NAME', 'STATE', 'SERVER'], cells));
}

async function loginVerb({ words, root, cwd, servers }: McpVerbContext): Promise<number> {
  const [name, entry] = namedServer(words, servers, 'login');
  const environment = { env: process.env, variables: process.env, family: '', cwd };
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const { endpoint } = await resolveTarget({ ...entry, disabled: false }, environment, stop.signal);
  if (!('url' in endpoint)) throw new Error(`${name} is a program: it needs no sign-in`);
  if (!endpoint.signIn) throw new Error(`${name} has its credential in mcp.json: it needs no sign-in`);
  const { fetchChallenge, signIn } = await import('../extend/mcp/oauth/sign-in.ts');
  await signIn({
    agentDir: root,
    url: endpoint.url,
    settings: endpoint.signIn,
    challenge: await fetchChallenge(endpoint as WebEndpoint),
    present: presentOnTerminal,
    signal: stop.signal,
  });
  return printAndExit(`Signed in to ${name}.\n`);
}

async function logoutVerb({ words, root, servers }: McpVerbContext): Promise<number> {
  const [name, { url }] = namedServer(words, servers, 'logout');
  const { signOut } = await import('../extend/mcp/oauth/sign-in.ts');
  if (url === undefined || !(await signOut(root, url))) throw new Error(`There is no sign-in for ${name}`);
  return printAndExit(`Signed out of ${name}.\n`);
}

function namedServer(words: readonly string[], servers: McpVerbContext['servers'], verb: string): [string, McpEntry] {
  const [name, ...others] = words;
  if (name === undefined || others.length > 0) throw new UsageError(`tau mcp ${verb} takes the name of a server`);
  const entry = servers.get(name);
  if (!entry) throw new Error(`mcp.json has no server ${JSON.stringify(name)}`);
  return [name, entry];
}

/** Prints the address, or what was wrong, and reads one line. The end of stdin leaves only the browser. */
async function presentOnTerminal({ address, problem }: SignInPrompt, signal: AbortSignal): Promise<string | undefined> {
  warn(
    problem ??
      `Open this address in a browser:\n\n  ${address}\n\nIf the page gives you a code or cannot be shown, paste the code or its address here.`,
  );
  const lines = createInterface({ input: process.stdin });
  const close = () => lines.close();
  signal.addEventListener('abort', close, { once: true });
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      if (line.trim() === '') return;
      signal.removeEventListener('abort', close);
      close();
      resolve(line);
    });
  });
}

const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '');

const warn = (text: string) => void process.stderr.write(`${terminalText(text)}\n`);
