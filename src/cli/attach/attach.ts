import { connectRemote } from '../../client/remote/connect-remote.node.ts';
import type { RequestedApprovals } from '../../client/remote/initial-approvals.ts';
import type { RemoteSession } from '../../client/remote/remote-session.ts';
import { messageOf } from '../../protocol/errors.ts';
import { onExitSignal } from '../../system/exit-signals.ts';
import { warn } from '../../system/terminal-text.ts';
import { CHAT_APPROVALS } from '../chat/approval-commands.ts';
import { runAttachedChat } from '../chat/attach-chat.ts';
import { runBatch } from '../chat/batch.ts';
import { CHAT_UI_METHODS } from '../chat/dialogs.ts';
import { type CliArguments, PiError, UsageError } from '../flags/flags.ts';
import { hasTerminal, watchStdoutReader } from '../stdio.ts';
import { type AttachTarget, attachTarget } from './attach-target.ts';
import { isAddress, serverAddress } from './server-address.ts';

// The number of last messages that are printed.
const SHOWN_MESSAGES = 20;

interface AttachOptions {
  // Requested for a new session by a terminal; piped lines have the approvals of programs.
  readonly approvals?: RequestedApprovals;
}

/** `tau attach [urls] [session|new]`: a chat with a session on a server, which keeps running afterwards. */
export async function attach(args: CliArguments, { approvals = CHAT_APPROVALS }: AttachOptions = {}): Promise<number> {
  const words = args.positionals.slice(1);
  const address = isAddress(words[0]) ? words.shift() : undefined;
  const [word, extra] = words;
  if (extra !== undefined) throw new UsageError(`tau attach takes one session, not ${JSON.stringify(extra)} too`);
  const server = serverAddress(args, address);
  try {
    return await runChat(await attachTarget(args, word, server), approvals);
  } catch (error) {
    if (error instanceof UsageError || error instanceof PiError) throw error;
    return printError(messageOf(error));
  }
}

async function runChat({ server, ...target }: AttachTarget, approvals: RequestedApprovals): Promise<number> {
  const isInteractive = hasTerminal();
  const session = connectRemote(
    server.urls.map(({ href }) => href),
    {
      ...target,
      token: server.token,
      tail: SHOWN_MESSAGES,
      ui: isInteractive ? CHAT_UI_METHODS : [],
      whenLost: isInteractive ? 'wait' : 'close',
      approvals: isInteractive ? approvals : undefined,
    },
  );
  onExitSignal(async () => session.close());
  const reader = watchStdoutReader();
  const code = await Promise.race([
    isInteractive ? runTerminal(session) : runPiped(session),
    reader.done.then(() => 0),
  ]);
  session.close();
  await reader.flushed();
  return code;
}

async function runTerminal(session: RemoteSession): Promise<number> {
  const reason = await runAttachedChat(session);
  if (reason !== undefined) return printError(reason);
  const unsent = session.outbox.length;
  return unsent === 0 ? 0 : printError(`Not delivered: ${unsent} of your last messages`);
}

const runPiped = async (session: RemoteSession) => ((await runBatch(session)) ? 0 : 1);

function printError(reason: string): number {
  warn(reason);
  return 1;
}
