import { resolve } from 'node:path';
import { strictestMode } from '../../protocol/approvals/approval-modes.ts';
import type { ApprovalMode } from '../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { expandHome } from '../agent-dir.ts';
import { readSettingsFile, readUserSettings, type Settings, settingsFiles, sortSettings } from '../settings.ts';
import { STRICT_LIMITS } from './strict-limits.ts';

type Approvals = NonNullable<Settings['approvals']>;
type SandboxGroup = NonNullable<Settings['sandbox']>;

/** The settings of approvals and the sandbox: the user's, and what the project takes away from them. */
export interface ApprovalSettings {
  readonly approvals: Omit<Approvals, 'allow' | 'ask' | 'deny'> & {
    /** The loosest mode that the project accepts. */
    readonly limit?: ApprovalMode;
    readonly allow: readonly string[];
    readonly ask: readonly string[];
    readonly deny: readonly string[];
  };
  /** All paths are absolute. */
  readonly sandbox: Omit<SandboxGroup, 'writable' | 'hidden'> & {
    readonly writable: readonly string[];
    readonly hidden: readonly string[];
  };
}

/**
 * Reads the user's settings and those of the project, trusted or not: it can only deny, ask, hide, and be stricter.
 *
 * Never throws: what does not count is named in a warning. Warnings of `readSettings` about the user's file are not
 * repeated.
 */
export function readApprovalSettings(source: { readonly agentDir: string; readonly cwd: string }): {
  settings: ApprovalSettings;
  warnings: string[];
} {
  const warnings: string[] = [];
  const [userFile = '', ...projectFiles] = settingsFiles({ ...source, trusted: true });
  const problems: string[] = [];
  const values = readUserSettings(userFile, problems);
  const unknown = sortSettings(values).unused.filter((name) => /^(approvals|sandbox)\./.test(name));
  warnings.push(...unknown.map((name) => `${userFile}: ${name} is no setting; it is ignored`));
  const user = withStrictDefaults(groupsOf({ file: userFile, cwd: source.cwd, warnings }, values), problems);
  const projects = projectFiles.map((file) => projectPart({ file, cwd: source.cwd, warnings }, user.approvals.mode));
  const all = <K extends string>(read: (part: ProjectPart) => Readonly<Record<K, readonly string[]>>, name: K) =>
    [user, ...projects].flatMap((part) => [...read(part)[name]]);
  const limit = strictestMode(...projects.map(({ approvals }) => approvals.limit));
  return {
    settings: {
      approvals: {
        ...user.approvals,
        ...(limit === undefined ? {} : { limit }),
        ask: all(({ approvals }) => approvals, 'ask'),
        deny: all(({ approvals }) => approvals, 'deny'),
      },
      sandbox: { ...user.sandbox, hidden: all(({ sandbox }) => sandbox, 'hidden') },
    },
    warnings,
  };
}

/** A misspelt value must not leave everything allowed. */
function withStrictDefaults({ approvals, sandbox }: ApprovalSettings, problems: readonly string[]): ApprovalSettings {
  const isInvalid = (name: string) => problems.some((problem) => problem.includes(`: ${name} `));
  const isLoose = ['approvals.mode', 'approvals.ask', 'approvals.deny', 'sandbox.hidden'].some(isInvalid);
  const mode = strictestMode(approvals.mode, STRICT_LIMITS.approvals.mode);
  return {
    approvals: isLoose && mode ? { ...approvals, mode } : approvals,
    sandbox: isInvalid('sandbox.use') ? { ...sandbox, ...STRICT_LIMITS.sandbox } : sandbox,
  };
}

interface ProjectPart {
  readonly approvals: Pick<ApprovalSettings['approvals'], 'ask' | 'deny' | 'limit'>;
  readonly sandbox: Pick<ApprovalSettings['sandbox'], 'hidden'>;
}

interface SettingsFile {
  readonly file: string;
  readonly cwd: string;
  readonly warnings: string[];
}

function groupsOf(file: SettingsFile, values: JsonObject): ApprovalSettings {
  const { approvals = {}, sandbox = {} } = values as Settings;
  const rules = (name: 'allow' | 'ask' | 'deny') => textsIn(file, `approvals.${name}`, approvals[name]);
  const paths = (name: 'writable' | 'hidden') =>
    textsIn(file, `sandbox.${name}`, sandbox[name]).map((path) => resolve(file.cwd, expandHome(path)));
  return {
    approvals: { ...approvals, allow: rules('allow'), ask: rules('ask'), deny: rules('deny') },
    sandbox: { ...sandbox, writable: paths('writable'), hidden: paths('hidden') },
  };
}

/** The texts of a list; every other entry is ignored on its own. */
function textsIn({ file, warnings }: SettingsFile, name: string, list: readonly unknown[] = []): string[] {
  return list.filter((entry, index): entry is string => {
    if (typeof entry === 'string') return true;
    warnings.push(`${file}: ${name}[${index}] must be a string; it is ignored`);
    return false;
  });
}

const PROJECT_KEYS: readonly string[] = ['approvals.mode', 'approvals.ask', 'approvals.deny', 'sandbox.hidden'];

function projectPart(file: SettingsFile, userMode: ApprovalMode | undefined): ProjectPart {
  const found: string[] = [];
  const values = readSettingsFile(file.file, found);
  // `readSettings` reports other settings, if the project is trusted.
  file.warnings.push(...found.filter((warning) => /: (approvals|sandbox)\b|the file is ignored$/.test(warning)));
  const ignored = (name: string, reason: string) =>
    file.warnings.push(`${file.file}: ${name} ${reason}; it is ignored`);
  for (const name of ['approvals', 'sandbox']) {
    const group = values[name];
    for (const inner of isObject(group) ? Object.keys(group) : [])
      if (!PROJECT_KEYS.includes(`${name}.${inner}`)) ignored(`${name}.${inner}`, 'counts in your own settings only');
  }
  const { approvals, sandbox } = groupsOf(file, values);
  const { mode, ask, deny } = approvals;
  const isStricter =
    mode !== undefined && mode !== 'full' && (userMode === undefined || strictestMode(mode, userMode) === mode);
  if (mode !== undefined && !isStricter && mode !== userMode)
    ignored('approvals.mode', `cannot be looser than ${userMode === undefined ? 'yours' : `your ${userMode}`}`);
  return { approvals: { ask, deny, ...(isStricter ? { limit: mode } : {}) }, sandbox };
}
