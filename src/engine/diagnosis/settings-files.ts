import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import type { Project } from '../project.ts';
import { fine, warning } from './finding.ts';

/** Reports problems of the settings files. */
export function settingsFindings({ warnings }: Project): readonly Finding[] {
  if (warnings.length === 0) return [fine('settings', 'Nothing wrong with them')];
  return warnings.map((text) => warning('settings', `${text}. Mend the file`));
}

/** Reports project settings that are ignored because the project is not trusted. */
export async function trustFinding({ cwd, trusted }: Project): Promise<Finding> {
  if (trusted) return fine('trust', 'This project is trusted');
  const files = [join(cwd, '.pi', 'settings.json'), join(cwd, '.pi', 'agent', 'settings.json')];
  const hasSettings = (await Promise.all(files.map(exists))).some(Boolean);
  if (!hasSettings) return fine('trust', 'This project is not trusted, and has no settings of its own');
  return warning('trust', 'This project is not trusted: its settings are not read. Use set_trust or --approve');
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
