import { type PromptContents, type PromptTool, systemPrompt } from '../../../session/context/system-prompt.ts';
import type { Session } from '../../../session/session.ts';
import type { SystemPromptOptions } from '../events.ts';
import { plainCopy, stringAt, stringList } from '../hooks/validate-results.ts';

/** The parts of a session's system prompt in pi's shape. */
export function sessionPromptOptions(session: Session): SystemPromptOptions {
  const { cwd, tools, parts } = session.promptFacts();
  const snippets = tools.map(({ name, description, promptSnippet }) => [name, promptSnippet ?? description]);
  return {
    cwd,
    ...(parts.system === undefined ? {} : { customPrompt: parts.system }),
    appendSystemPrompt: parts.append.join('\n\n'),
    selectedTools: tools.map(({ name }) => name),
    hiddenTools: [],
    toolSnippets: Object.fromEntries(snippets),
    toolGuidelines: Object.fromEntries(
      tools.flatMap(({ name, promptGuidelines = [] }) =>
        promptGuidelines.length > 0 ? [[name, [...promptGuidelines]]] : [],
      ),
    ),
    promptGuidelines: [],
    contextFiles: parts.contextFiles.map(({ path, text }) => ({ path, content: text })),
    skills: (parts.skills ?? []).map(({ name, description, path }) => ({ name, description, filePath: path })),
    sections: {},
  };
}

/**
 * The system prompt of a run while handlers change its options. An unchanged prompt stays as the session built it; a
 * forced one replaces it as a whole.
 */
export class EditablePrompt {
  readonly #prompt: string;
  readonly #unchanged: string;
  readonly #suffix: string;
  readonly options: SystemPromptOptions;

  constructor(session: Session, prompt: string) {
    this.options = sessionPromptOptions(session);
    this.#unchanged = JSON.stringify(this.options);
    this.#prompt = prompt;
    const base = renderPrompt(this.options);
    // Other parts of the agent may have added to the prompt of the session.
    this.#suffix = prompt.startsWith(base) ? prompt.slice(base.length) : '';
  }

  /** The prompt with the changes so far; throws if an option has the wrong type. */
  get text(): string {
    const options = plainCopy(this.options);
    const { forceSystemPrompt } = options;
    if (forceSystemPrompt !== undefined) {
      return withSections(stringAt('systemPromptOptions.forceSystemPrompt', forceSystemPrompt), options.sections);
    }
    const { sections, ...rendered } = options;
    const { sections: _none, ...unchanged } = JSON.parse(this.#unchanged) as SystemPromptOptions;
    const isUnchanged = JSON.stringify(rendered) === JSON.stringify(unchanged);
    return withSections(isUnchanged ? this.#prompt : renderPrompt(options) + this.#suffix, sections);
  }
}

function renderPrompt(options: SystemPromptOptions): string {
  const { cwd, customPrompt, appendSystemPrompt, promptGuidelines, contextFiles, skills } = options;
  const contents: PromptContents = {
    cwd: stringAt('cwd', cwd),
    tools: promptTools(options),
    guidelines: stringList('promptGuidelines', promptGuidelines),
    parts: {
      ...(customPrompt === undefined ? {} : { system: stringAt('customPrompt', customPrompt) }),
      append: [stringAt('appendSystemPrompt', appendSystemPrompt ?? '')],
      contextFiles: contextFiles.map(({ path, content }) => ({
        path: stringAt('contextFiles.path', path),
        text: stringAt('contextFiles.content', content),
      })),
      skills: skills.map(({ name, description, filePath }) => ({
        name: stringAt('skills.name', name),
        description: stringAt('skills.description', description),
        path: stringAt('skills.filePath', filePath),
      })),
    },
  };
  return systemPrompt(contents);
}

function promptTools({ selectedTools, hiddenTools, toolSnippets, toolGuidelines }: SystemPromptOptions): PromptTool[] {
  const hidden = new Set(stringList('hiddenTools', hiddenTools));
  return stringList('selectedTools', selectedTools).flatMap((name) => {
    if (hidden.has(name)) return [];
    const promptGuidelines = stringList('toolGuidelines', toolGuidelines?.[name]);
    return [{ name, description: String(toolSnippets?.[name] ?? ''), promptGuidelines }];
  });
}

function withSections(prompt: string, sections: SystemPromptOptions['sections']): string {
  const added = Object.entries(sections ?? {}).filter(([, text]) => typeof text === 'string' && text.trim() !== '');
  return [prompt, ...added.map(([name, text]) => `<${name}>\n${text.trim()}\n</${name}>`)].join('\n\n');
}
