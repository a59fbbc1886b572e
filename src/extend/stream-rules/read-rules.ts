import { messageOf } from '../../protocol/errors.ts';
import { readWords } from '../prompt-file.ts';
import { type Rule, ruleIn } from './rule.ts';
import { nameOf } from './rule-files.ts';

/** The rules in these files; of several with one name the first. A file that makes no sense is named in a warning. */
export function readRules(files: readonly string[]): { rules: Rule[]; warnings: string[] } {
  const found = new Map<string, Rule | undefined>();
  const warnings: string[] = [];
  for (const path of files) {
    try {
      const text = readWords(path);
      if (text === undefined) throw new Error('the file cannot be read');
      const { name, rule } = ruleIn({ path, text, fallbackName: nameOf(path) });
      if (!found.has(name)) found.set(name, rule);
    } catch (error) {
      warnings.push(`${path}: ${messageOf(error)}; the rule is left out`);
    }
  }
  return { rules: [...found.values()].filter((rule) => rule !== undefined), warnings };
}
