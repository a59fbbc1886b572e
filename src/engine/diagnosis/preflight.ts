import type { Finding, Preflight } from '../../protocol/generated/vocabulary.ts';
import type { Agent } from '../agent.ts';
import { fine, runChecks, warning } from './finding.ts';
import { diskSpaceFinding, futureFolderFinding, temporaryFolderFinding, workingFolderFinding } from './folders.ts';
import { ripgrepFinding, sharpFinding } from './installation.ts';
import { keysFinding, modelFindings } from './model.ts';
import { sessionFileFinding } from './session-files.ts';
import { settingsFindings, trustFinding } from './settings-files.ts';
import { shellFinding } from './shell.ts';

/** Checks everything a prompt needs, without calling a model. */
export async function preflight(agent: Agent): Promise<Preflight> {
  const { session, project, toolbox, env, sessionDirectory, registry } = agent;
  const found = await runChecks({
    model: () => modelFindings(registry, () => session.choice),
    keys: () => keysFinding(env),
    'working folder': () => workingFolderFinding(project.cwd),
    'session file': () => sessionFileFinding(session.log),
    'session folder': () => sessionFolderFindings(sessionDirectory),
    'temporary folder': () => temporaryFolderFinding(),
    shell: () => shellFinding(project.settings.shellPath, env),
    tools: () => toolsFinding(toolbox.activeNames),
    settings: () => settingsFindings(project),
    trust: () => trustFinding(project, agent.currentProject.skippedFiles),
    'disk space': () => diskSpaceFinding([project.cwd, ...(sessionDirectory === undefined ? [] : [sessionDirectory])]),
    ripgrep: ripgrepFinding,
    sharp: sharpFinding,
  });
  return { ok: found.every(({ status }) => status !== 'error'), findings: found };
}

const sessionFolderFindings = async (path: string | undefined): Promise<readonly Finding[]> =>
  path === undefined ? [] : [await futureFolderFinding('session folder', path, SESSION_FOLDER_REMEDY)];

const SESSION_FOLDER_REMEDY = 'Change its permissions, or name another folder with --session-dir';

const toolsFinding = (names: readonly string[]): Finding =>
  names.length > 0
    ? fine('tools', names.join(', '))
    : warning('tools', 'None is active: the model can only answer. Activate some with set_active_tools');
