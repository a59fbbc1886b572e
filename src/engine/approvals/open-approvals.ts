import { homedir } from 'node:os';
import { ripgrepPath } from '../../agent/tools/search/ripgrep.ts';
import { type ApprovalParts, Approvals } from '../../extend/approvals/approvals.ts';
import { SessionSandbox } from '../../extend/approvals/session-sandbox.ts';
import { ApprovalsFile } from '../../store/approvals/approvals-file.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { realPath } from '../../system/files/real-path.ts';
import { existingPath } from '../../system/sandbox/roots.ts';
import type { Agent } from '../agent.ts';
import type { CurrentApprovals } from './current-approvals.ts';

// `customType` of the entries with answered questions.
const ANSWER_TYPE = 'tau.approval';

/** Joins the code that decides about calls with the agent. */
export async function openApprovals(agent: Agent, current: CurrentApprovals): Promise<Approvals> {
  const { dialogs } = await agent.addons.ensureLoaded();
  const { agentDir } = agent.addonPaths;
  const settings = () => current.session.policy.settings;
  let resolved: { readonly log: SessionLog; readonly folders: ApprovalFolders } | undefined;
  // Each decision needs them several times; they are those from the begin of the session, as in the sandbox.
  const folders = () => {
    const { log } = agent.session;
    if (resolved?.log !== log) resolved = { log, folders: realFolders(log.header.cwd, agent) };
    return resolved.folders;
  };
  const programs = [
    process.execPath,
    ...(await ripgrepPath()
      .then((path) => [path])
      .catch(() => [])),
  ];
  const sandbox = new SessionSandbox({
    programs,
    folders,
    settings: () => settings()?.sandbox,
    use: () => current.session.sandboxUse,
    isWanted: () => current.session.wantsSandbox,
  });
  return new Approvals({
    dialogs,
    folders,
    modeOf: (run) => current.modeOf(run),
    activeRun: () => agent.session.run,
    settings,
    file: new ApprovalsFile(agentDir),
    sourceOf: (name) => agent.toolbox.sourceOf(name) ?? 'extension',
    pathVariable: () => agent.shell.env['PATH'] ?? '',
    record: (answer) => void agent.session.transcript.append({ type: 'custom', customType: ANSWER_TYPE, data: answer }),
    stopRun: () => void agent.session.abort(),
    warn: (messages) => agent.warnings.report('settings', messages),
    sandbox,
  });
}

type ApprovalFolders = ReturnType<ApprovalParts['folders']>;

const realFolders = (cwd: string, { env, addonPaths }: Agent): ApprovalFolders => ({
  cwd: realPath(cwd),
  namedCwds: [cwd, ...(env['PWD'] ? [env['PWD']] : [])].filter((path) => existingPath(path) === realPath(cwd)),
  home: realPath(env['HOME'] || homedir()),
  agentDir: realPath(addonPaths.agentDir),
});
