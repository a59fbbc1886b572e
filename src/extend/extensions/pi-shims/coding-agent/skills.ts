import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { availableSkills } from '../../../../session/context/system-prompt.ts';
import { realPath } from '../../../../system/files/real-path.ts';
import { contextFiles } from '../../../prompt-parts.ts';
import { type ResourceRoot, skillRoots } from '../../../resources/search-roots.ts';
import { readSkill } from '../../../resources/skill.ts';
import { MAX_NAMES, MAX_SKILL_DEPTH } from '../../../resources/skill-files.ts';

// A skill in pi's shape.
interface PiSkill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
  readonly baseDir: string;
  readonly sourceInfo: { path: string; source: string; scope: string; origin: string; baseDir: string };
  readonly disableModelInvocation: boolean;
}

interface SkillsFound {
  skills: PiSkill[];
  diagnostics: { type: 'warning'; message: string; path?: string }[];
}

const SCOPES = { user: 'user', project: 'project', path: 'temporary' } as const;

/** Reads the skills below a folder; `user`, `project` and `path` are the sources of local skills. */
export function loadSkillsFromDir({ dir, source }: { dir: string; source: string }): SkillsFound {
  const isLocation = Object.hasOwn(SCOPES, source);
  const location = isLocation ? (source as keyof typeof SCOPES) : 'path';
  return loadFrom([{ path: resolve(dir), location }], isLocation ? 'local' : source);
}

/** Reads the skills of paths and, if `includeDefaults`, of the user and the project; the first of a name counts. */
export function loadSkills(options: {
  cwd: string;
  agentDir: string;
  skillPaths: readonly string[];
  includeDefaults: boolean;
}): SkillsFound {
  const { cwd, agentDir, skillPaths, includeDefaults } = options;
  const roots = skillRoots({
    agentDir,
    cwd,
    home: homedir(),
    trusted: false,
    skillPaths,
    promptPaths: [],
    findSkills: includeDefaults,
    findTemplates: false,
  });
  return loadFrom(roots, 'local');
}

function loadFrom(roots: readonly ResourceRoot[], source: string): SkillsFound {
  const found = new Map<string, PiSkill>();
  const diagnostics: SkillsFound['diagnostics'] = [];
  for (const root of roots) {
    for (const path of skillFilesAt(root.path)) {
      const warn = (message: string) => void diagnostics.push({ type: 'warning', message, path });
      const skill = readSkill(path, root, warn);
      if (!skill || found.has(skill.name)) continue;
      const { name, description, isListed } = skill;
      const baseDir = dirname(path);
      const sourceInfo = { path, source, scope: SCOPES[root.location], origin: 'top-level', baseDir };
      found.set(name, { name, description, filePath: path, baseDir, sourceInfo, disableModelInvocation: !isListed });
    }
  }
  return { skills: [...found.values()], diagnostics };
}

interface SkillWalk {
  /** Real paths of the folders visited so far: links may lead to one of them. */
  readonly visited: Set<string>;
  names: number;
}

// SKILL.md of every folder below, and other Markdown files of the folder itself.
function skillFilesAt(path: string, depth = 0, walk: SkillWalk = { visited: new Set(), names: 0 }): string[] {
  try {
    if (statSync(path).isFile()) return depth === 0 || path.endsWith('.md') ? [path] : [];
    const real = realPath(path);
    if (walk.visited.has(real) || walk.names > MAX_NAMES) return [];
    walk.visited.add(real);
    const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    walk.names += entries.length;
    const own = entries.find(({ name }) => name === 'SKILL.md');
    if (own) return [join(path, own.name)];
    return entries.flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.name.startsWith('.') || entry.name === 'node_modules') return [];
      if (entry.isFile()) return depth === 0 && entry.name.endsWith('.md') ? [child] : [];
      return depth < MAX_SKILL_DEPTH ? skillFilesAt(child, depth + 1, walk) : [];
    });
  } catch {
    return [];
  }
}

/** The part of the system prompt that lists skills; empty if there are none for the model. */
export const formatSkillsForPrompt = (skills: readonly PiSkill[]): string =>
  availableSkills(
    skills
      .filter(({ disableModelInvocation }) => !disableModelInvocation)
      .map(({ name, description, filePath }) => ({ name, description, path: filePath })),
  ).join('\n');

/** The parts of a message that an invoked skill became; null for any other message. */
export function parseSkillBlock(
  text: string,
): { name: string; location: string; content: string; userMessage: string | undefined } | null {
  const match = /^<skill name="([^"]+)" location="([^"]+)">\n([\s\S]*?)\n<\/skill>(?:\n\n([\s\S]+))?$/.exec(text);
  if (!match) return null;
  const [, name = '', location = '', content = '', userMessage] = match;
  return { name, location, content, userMessage: userMessage?.trim() || undefined };
}

/** AGENTS.md and its kin for a folder. */
export const loadProjectContextFiles = ({ cwd, agentDir }: { cwd: string; agentDir: string }) =>
  contextFiles({ cwd, agentDir, trusted: false }).map(({ path, text }) => ({ path, content: text }));
