import type { Session } from '../../../session/session.ts';
import type { SystemPromptOptions } from '../events.ts';
import { plainCopy } from '../hooks/validate-results.ts';

/** The parts of a session's system prompt in pi's shape. */
export function sessionPromptOptions(session: Session): SystemPromptOptions {
  const { cwd, tools, parts } = session.promptFacts();
  const snippets = tools.map(({ name, description, promptSnippet }) => [name, promptSnippet ?? description]);
  return {
    cwd,
    ...(parts.system === undefined ? {} : { customPrompt: parts.system }),
    ...(parts.append.length === 0 ? {} : { appendSystemPrompt: parts.append.join('\n\n') }),
    selectedTools: tools.map(({ name }) => name),
    toolSnippets: Object.fromEntries(snippets),
    promptGuidelines: tools.flatMap(({ promptGuidelines = [] }) => promptGuidelines),
    contextFiles: parts.contextFiles.map(({ path, text }) => ({ path, content: text })),
    skills: (parts.skills ?? []).map(({ name, description, path }) => ({ name, description, filePath: path })),
    sections: {},
  };
}

export function withSections(prompt: string, { sections }: SystemPromptOptions): string {
  const added = Object.entries(plainCopy(sections)).filter(
    ([, text]) => typeof text === 'string' && text.trim() !== '',
  );
  return [prompt, ...added.map(([name, text]) => `<${name}>\n${text.trim()}\n</${name}>`)].join('\n\n');
}
