/**
 * Saves the working tree before each turn and offers to restore it when the session is forked.
 *
 *   tau --mode rpc -e examples/extensions/git-checkpoint.ts
 *
 * Files that git does not track are left alone.
 */
import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent';

const ENTRY = 'git-checkpoint';

export default function gitCheckpoint(pi: ExtensionAPI): void {
  const git = (ctx: ExtensionContext, ...args: string[]) => pi.exec('git', args, { cwd: ctx.cwd, timeout: 10_000 });

  pi.on('turn_start', async (_event, ctx) => {
    // Commits the changes without a branch; prints nothing when there are none.
    const stash = await git(ctx, 'stash', 'create');
    const { code, stdout } = stash.stdout === '' ? await git(ctx, 'rev-parse', '--verify', 'HEAD') : stash;
    if (code === 0) pi.appendEntry(ENTRY, { commit: stdout.trim() });
  });

  pi.on('session_before_fork', async ({ entryId }, ctx) => {
    const commit = commitAt(ctx, entryId);
    if (!commit || !ctx.hasUI) return;
    if (!(await ctx.ui.confirm('Restore the code?', 'As it was before this message was answered'))) return;
    const { code, stderr } = await git(ctx, 'restore', '--source', commit, '--', ':/');
    if (code === 0) ctx.ui.notify('The code was restored');
    else ctx.ui.notify(`The code was not restored: ${stderr.trim()}`, 'error');
  });
}

/** The first checkpoint after this entry. */
function commitAt(ctx: ExtensionContext, entryId: string): string | undefined {
  const branch = ctx.sessionManager.getBranch();
  const from = branch.findIndex(({ id }) => id === entryId);
  for (const entry of from === -1 ? [] : branch.slice(from)) {
    if (entry.type === 'custom' && entry.customType === ENTRY) return (entry.data as { commit: string }).commit;
  }
  return undefined;
}
