import { homedir } from 'node:os';
import { parseRules } from '../../extend/approvals/rules.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { Finding, SandboxUse } from '../../protocol/generated/vocabulary.ts';
import { readApprovalSettings } from '../../store/approvals/approval-settings.ts';
import { ApprovalsFile } from '../../store/approvals/approvals-file.ts';
import { realPath } from '../../system/files/real-path.ts';
import { type ProbeOptions, probeSandbox } from '../../system/sandbox/probe.ts';
import type { SandboxProbe } from '../../system/sandbox/sandbox.ts';
import { fine, problem, warning } from './finding.ts';

// Longer than the probe's own limit, whose reason says more.
export const SANDBOX_CHECK_MS = 25_000;

interface ProjectFolders {
  readonly agentDir: string;
  readonly cwd: string;
}

interface SandboxChoice {
  /** The flag, which comes before the setting. */
  readonly use?: SandboxUse | undefined;
  readonly probe?: ProbeOptions;
}

/** Reports whether this machine can confine commands, and the remedy if not. */
export async function sandboxFinding(folders: ProjectFolders, choice: SandboxChoice = {}): Promise<Finding> {
  const check = 'sandbox';
  const use = choice.use ?? readApprovalSettings(folders).settings.sandbox.use;
  if (use === 'external')
    return fine(check, 'External: this machine counts as the sandbox, and no command is confined');
  const probe = await probeSandbox(choice.probe).catch(failedProbe);
  if (probe.engine !== undefined)
    return fine(check, `${probe.engine} works${use === 'off' ? ', but is turned off' : ''}`);
  const remedy = `To confine commands, ${probe.remedy}`;
  return use === 'required'
    ? problem(check, `None works, but one is required, so no session opens. ${probe.reason}. ${remedy}`)
    : warning(check, `None works: in the mode auto each command needs an approval. ${probe.reason}. ${remedy}`);
}

const failedProbe = (error: unknown): SandboxProbe => ({
  reason: messageOf(error),
  remedy: 'point TMPDIR to a folder of yours',
});

/** Reports settings of approvals that do not count, rules that make no sense, and a malformed file of saved approvals. */
export function approvalFindings(folders: ProjectFolders): readonly Finding[] {
  const check = 'approvals';
  const saved = new ApprovalsFile(folders.agentDir).list(folders.cwd);
  const home = realPath(homedir());
  const { warnings: senseless } = parseRules(
    saved.approvals.map(({ rule }) => rule),
    { list: 'allow', home },
  );
  const found = [
    ...settingsProblems(folders, home).map((text) => `${text}. Mend the settings`),
    ...saved.warnings.map((text) => `${text}. Mend the file, or remove it`),
    ...senseless.map((text) => `Saved: ${text}. Withdraw it with tau approvals remove`),
  ];
  if (found.length > 0) return found.map((text) => warning(check, text));
  return [fine(check, `${saved.approvals.length} saved for this folder`)];
}

function settingsProblems(folders: ProjectFolders, home: string): string[] {
  const { settings, warnings } = readApprovalSettings(folders);
  const { allow, ask, deny } = settings.approvals;
  const hosts = (settings.sandbox.domains ?? []).map((host) => `network(${host})`);
  return [
    ...warnings,
    ...parseRules([...allow, ...hosts], { list: 'allow', home }).warnings,
    ...parseRules(ask, { list: 'ask', home }).warnings,
    ...parseRules(deny, { list: 'deny', home }).warnings,
  ];
}
