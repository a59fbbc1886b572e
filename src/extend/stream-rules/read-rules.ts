import { messageOf } from '../../protocol/errors.ts';
import { tryReadPromptFile } from '../prompt-file.ts';
import { type Rule, parseRule } from './rule.ts';
import { ruleNameOf } from './rule-files.ts';

/** Reads rule files; of several rules with one name the first counts. A malformed file gives a warning. */
export function readRules(files: readonly string[]): { rules: Rule[]; warnings: string[] } {
  const found = new Map<string, Rule | undefined>();
  const warnings: string[] = [];
  for (const path of files) {
    try {
      const text = tryReadPromptFile(path);
      if (text === undefined) throw new Error('the file cannot be read');
      const { name, rule } = parseRule({ path, text, fallbackName: ruleNameOf(path) });
      if (!found.has(name)) found.set(name, rule);
    } catch (error) {
      warnings.push(`${path}: ${messageOf(error)}; the rule is left out`);
    }
  }
  return { rules: [...found.values()].filter((rule) => rule !== undefined), warnings };
}
