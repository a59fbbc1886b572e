/**
 * A tour of everything an extension can show through a client. Pairs with examples/rpc-extension-ui.ts:
 *
 *   npx jiti examples/rpc-extension-ui.ts
 */
import type { ExtensionAPI, ExtensionCommandContext } from '@earendil-works/pi-coding-agent';

export default function rpcDemo(pi: ExtensionAPI): void {
  let turns = 0;

  pi.on('session_start', async (_event, ctx) => {
    ctx.ui.setTitle('tau: rpc-demo');
    ctx.ui.setStatus('rpc-demo', 'ready');
    ctx.ui.setWidget('rpc-demo', ['rpc-demo', '/rpc-select /rpc-confirm /rpc-input /rpc-editor /rpc-prefill'], {
      placement: 'belowEditor',
    });
  });

  pi.on('turn_start', async (_event, ctx) => {
    ctx.ui.setStatus('rpc-demo', `turn ${++turns}`);
  });

  pi.on('agent_end', async (_event, ctx) => {
    ctx.ui.setStatus('rpc-demo', undefined);
  });

  pi.on('tool_call', async ({ toolName, input }, ctx) => {
    if (toolName !== 'bash' || !/\bsudo\b/.test(String(input['command']))) return undefined;
    const answer = await ctx.ui.select('Run this as root?', ['Allow', 'Block'], { timeout: 10_000 });
    return answer === 'Allow' ? undefined : { block: true, reason: 'Blocked by the user' };
  });

  pi.on('session_before_switch', async (_event, ctx) => {
    if (ctx.sessionManager.getBranch().every(({ type }) => type !== 'message')) return undefined;
    const yes = await ctx.ui.confirm('Leave this session?', 'You can come back to it', { timeout: 5000 });
    return { cancel: !yes };
  });

  const demos: Record<string, (ctx: ExtensionCommandContext) => Promise<unknown>> = {
    'rpc-select': (ctx) => ctx.ui.select('Which one?', ['red', 'green', 'blue']),
    'rpc-confirm': (ctx) => ctx.ui.confirm('Sure?', 'It cannot be undone'),
    'rpc-input': (ctx) => ctx.ui.input('Your name?', 'type it here'),
    'rpc-editor': (ctx) => ctx.ui.editor('Change this', 'first line\nsecond line'),
  };
  for (const [name, openDialog] of Object.entries(demos)) {
    pi.registerCommand(name, {
      description: `Shows the ${name.slice(4)} dialog`,
      handler: async (_args, ctx) => {
        const answer = await openDialog(ctx);
        ctx.ui.notify(`You said: ${JSON.stringify(answer ?? null)}`, answer === undefined ? 'warning' : 'info');
      },
    });
  }

  pi.registerCommand('rpc-prefill', {
    description: 'Puts its arguments into the editor',
    handler: async (args, ctx) => ctx.ui.setEditorText(args || 'prefilled'),
  });
}
