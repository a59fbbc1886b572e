import { delimiter, resolve } from 'node:path';
import { filesNeedingTrust } from '../engine/addons/detect.ts';
import { approvalFindings, SANDBOX_CHECK_MS, sandboxFinding } from '../engine/diagnosis/approvals.ts';
import { fine, runChecks } from '../engine/diagnosis/finding.ts';
import {
  diskSpaceFinding,
  futureFolderFinding,
  temporaryFolderFinding,
  workingFolderFinding,
} from '../engine/diagnosis/folders.ts';
import {
  environmentFindings,
  ripgrepFinding,
  sharpFinding,
  versionFindings,
} from '../engine/diagnosis/installation.ts';
import { orphansFinding, outputLogsFinding, pipesFinding } from '../engine/diagnosis/leftovers.ts';
import { keysFinding, modelFindings } from '../engine/diagnosis/model.ts';
import { piChecks } from '../engine/diagnosis/pi-setup.ts';
import { storedSessionFindings } from '../engine/diagnosis/session-files.ts';
import { agentFilesFindings, settingsFindings, trustFinding } from '../engine/diagnosis/settings-files.ts';
import { shellFinding } from '../engine/diagnosis/shell.ts';
import { openModels } from '../engine/models/open-models.ts';
import { Project } from '../engine/project.ts';
import type { Finding, SandboxUse } from '../protocol/generated/vocabulary.ts';
import { firstModel } from '../session/model-choice.ts';
import { agentDir, expandHome, sessionsFolder } from '../store/agent-dir.ts';
import { chosenSessionDir, modelOptionsOf, trustOf, workingFolder } from './engine-options.ts';
import { printFindings } from './findings-report.ts';
import type { CliArguments } from './flags/flags.ts';
import { describeProgram, executablesNamed } from './shim/launcher.ts';

/**
 * `tau doctor`: checks everything that tau depends on and prints advice; with `--pi`, what tau uses of the set-up of pi.
 * Changes nothing and calls no model.
 */
export async function doctor(args: CliArguments): Promise<number> {
  const results = await (args.pi ? collectPiFindings(args) : collectFindings(args));
  return printFindings(results, { asJson: args.json !== undefined });
}

/** Each check reads what it needs itself, so that a failure affects its own finding only. */
async function collectFindings(args: CliArguments): Promise<Finding[]> {
  const { env } = process;
  const root = () => agentDir(env);
  const cwd = workingFolder;
  const project = () => new Project({ cwd: cwd(), agentDir: root(), trust: trustOf(args) });
  const sessions = () => {
    const chosen = chosenSessionDir(args, project());
    return chosen === undefined ? sessionsFolder(root()) : resolve(cwd(), expandHome(chosen));
  };
  const folders = () => ({ agentDir: root(), cwd: cwd() });
  const sandbox = () => sandboxFinding(folders(), { use: args.sandbox as SandboxUse | undefined });
  const confined = runChecks({ sandbox }, SANDBOX_CHECK_MS);
  const others = runChecks({
    tau: versionFindings,
    model: () => defaultModelFindings(project(), args),
    keys: () => keysFinding(env),
    'working folder': () => workingFolderFinding(cwd()),
    'agent folder': () => futureFolderFinding('agent folder', root(), 'Name another with PI_CODING_AGENT_DIR'),
    'agent files': () => agentFilesFindings(root()),
    'session folder': () => futureFolderFinding('session folder', sessions(), 'Name another with --session-dir'),
    'temporary folder': () => temporaryFolderFinding(),
    'disk space': () => diskSpaceFinding([root(), cwd()]),
    settings: () => settingsFindings(project()),
    trust: () => trustFinding(project(), filesNeedingTrust({ agentDir: root(), cwd: cwd(), options: {} })),
    approvals: () => approvalFindings(folders()),
    shell: () => shellFinding(project().settings.shellPath, env),
    ripgrep: ripgrepFinding,
    sharp: sharpFinding,
    sessions: () => storedSessionFindings([sessionsFolder(root()), sessions()]),
    'output logs': () => outputLogsFinding(),
    pipes: () => pipesFinding(),
    processes: orphansFinding,
    environment: () => environmentFindings(env),
  });
  return [...(await others), ...(await confined)];
}

/** The findings about the set-up of pi in the agent folder, and about an installed pi. */
function collectPiFindings(args: CliArguments): Promise<Finding[]> {
  const root = agentDir(process.env);
  const project = () => new Project({ cwd: workingFolder(), agentDir: root, trust: trustOf(args) });
  const registry = async () => (await openModels({ agentDir: root, env: process.env, project: project() })).registry;
  return runChecks({ pi: installedPiFindings, ...piChecks({ agentDir: root, project, registry }) });
}

function installedPiFindings(): readonly Finding[] {
  const found = executablesNamed('pi', (process.env['PATH'] ?? '').split(delimiter));
  if (found.length === 0) return [fine('pi', 'No pi on the PATH; for programs that start it: tau shim pi')];
  return found.map((path) => fine('pi', describeProgram(path)));
}

/** The findings for the default model of a new session. */
async function defaultModelFindings(project: Project, args: CliArguments): Promise<readonly Finding[]> {
  const root = agentDir(process.env);
  const { registry, requested: named } = await openModels({
    agentDir: root,
    env: process.env,
    project,
    ...modelOptionsOf(args),
  });
  return modelFindings(registry, () => firstModel(registry, { named, settings: project.settings }));
}
