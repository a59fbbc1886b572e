import { homeWithCommands } from '../agent/extensions.ts';
import { type Home, newHome } from '../agent/test-agent.ts';
import { interceptingAgentArgs } from '../server/intercepting-agent.ts';
import { type PageServer, servePage } from './page-server.ts';

interface ApprovalOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: string;
  readonly rule?: string;
}

export const ALLOW_ONCE: ApprovalOption = { optionId: 'once', name: 'Allow once', kind: 'allow_once' };
export const DENY: ApprovalOption = { optionId: 'deny', name: 'Deny', kind: 'reject_once' };

/** The options of most questions. */
export const ALL_OPTIONS: readonly ApprovalOption[] = [
  ALLOW_ONCE,
  { optionId: 'session', name: 'Allow for this session', kind: 'allow_session' },
  { optionId: 'always', name: 'Always allow: git push', kind: 'allow_always', rule: 'bash(git push)' },
  DENY,
  { optionId: 'stop', name: 'Deny and stop', kind: 'reject_stop' },
];

/** An approval to run a command, with other fields where given. */
export const commandApproval = (command: string, more: object = {}) => ({
  kind: 'tool',
  toolName: 'bash',
  source: 'builtin',
  title: 'Run this command?',
  subject: { type: 'command', command, cwd: '/home/ada/project' },
  why: { mode: 'ask' },
  options: ALL_OPTIONS,
  ...more,
});

interface ApprovalsServerOptions {
  /** The questions that `/ask` opens at once; a notice then shows the answers. */
  readonly approvals?: readonly (ReturnType<typeof commandApproval> | object)[];
  /** Code of the extension. */
  readonly extension?: string;
  /** Fields of the state; `approvalMode: null` leaves it out. */
  readonly state?: object;
  readonly saved?: readonly object[];
  /** Modes that the agent refuses, with these words. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly script?: readonly object[];
  readonly home?: Home;
}

/** Serves the page with agents that have approval modes and send questions with these approvals. */
export async function serveApprovals(options: ApprovalsServerOptions = {}): Promise<PageServer> {
  const { approvals = [], extension, state = {}, saved = [], refused = {}, script, home = newHome() } = options;
  const ask = `tell(ctx, await Promise.all(${JSON.stringify(approvals)}.map(
    (approval, at) => ctx.ui.select('approval ' + at, approval.options.map(({ name }) => name)))));`;
  homeWithCommands({ ask }, extension, home);
  const start = `
    const approvals = ${JSON.stringify(approvals)};
    const state = ${JSON.stringify(state)};
    const refused = ${JSON.stringify(refused)};
    let saved = ${JSON.stringify(saved)};`;
  const intercept = `
    const { type, mode, rule } = request;
    if (type === 'set_approval_mode') {
      if (state.approvalMode === null)
        answer(request, { success: false, error: 'Unknown command', code: 'unknown_command' });
      else if (mode in refused) answer(request, { success: false, error: refused[mode], code: 'permission_denied' });
      else {
        state.approvalMode = mode;
        answer(request, { success: true, data: { approvalMode: mode, sandbox: state.sandbox } });
        say({ type: 'state_changed', state: { approvalMode: mode } });
      }
      return true;
    }
    if (type === 'get_approvals') answer(request, { success: true, data: { approvals: saved } });
    if (type === 'remove_approval') {
      saved = saved.filter((approval) => approval.rule !== rule);
      answer(request, { success: true });
    }
    return type === 'get_approvals' || type === 'remove_approval';`;
  const outgoing = `
    const at = /^approval (\\d+)/.exec(record.title ?? '')?.[1];
    if (record.method === 'select' && at !== undefined) {
      record.approval = approvals[at];
      record.title = approvals[at].title;
    }
    if (record.command === 'get_state' && record.data) Object.assign(record.data, state);
    for (const holder of [record.data, record.state]) if (holder?.approvalMode === null) delete holder.approvalMode;`;
  return servePage({
    home,
    args: interceptingAgentArgs(home, intercept, { start, outgoing, ...(script && { script }) }),
  });
}
