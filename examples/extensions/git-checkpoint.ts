/**
 * Remembers the state of the working tree before each turn, and offers to restore it when the session is forked.
 *
 *   tau --mode rpc -e examples/extensions/git-checkpoint.ts
 */
import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent';

const ENTRY = 'git-checkpoint';

interface Checkpoint {
  /** The entry that was the last one when the turn began. */
  readonly leafId: string;
  /** A commit that holds the working tree. */
  readonly commit: string;
}

export default function gitCheckpoint(pi: ExtensionAPI): void {
  const git = (ctx: ExtensionContext, ...args: string[]) => pi.exec('git', args, { cwd: ctx.cwd, timeout: 10_000 });

  pi.on('turn_start', async (_event, ctx) => {
    const leafId = ctx.sessionManager.getLeafId();
    // Makes a commit of the working tree and moves nothing; prints nothing when there is nothing to keep.
    const { code, stdout } = await git(ctx, 'stash', 'create', 'checkpoint');
    const commit = stdout.trim();
    if (code === 0 && commit !== '' && leafId !== null) pi.appendEntry(ENTRY, { leafId, commit } satisfies Checkpoint);
  });

  pi.on('session_before_fork', async ({ entryId }, ctx) => {
    const checkpoint = checkpointAt(ctx, entryId);
    if (!checkpoint || !ctx.hasUI) return;
    const yes = await ctx.ui.confirm(
      'Restore the code?',
      'The working tree as it was before this message was answered',
    );
    if (!yes) return;
    const { code, stderr } = await git(ctx, 'stash', 'apply', checkpoint.commit);
    ctx.ui.notify(code === 0 ? 'The code was restored' : `git says: ${stderr.trim()}`, code === 0 ? 'info' : 'error');
  });
}

/** The first checkpoint that was made after this entry. */
function checkpointAt(ctx: ExtensionContext, entryId: string): Checkpoint | undefined {
  const branch = ctx.sessionManager.getBranch();
  const after = branch.slice(branch.findIndex(({ id }) => id === entryId));
  for (const entry of after) {
    if (entry.type === 'custom' && entry.customType === ENTRY) return entry.data as Checkpoint;
  }
  return undefined;
}
