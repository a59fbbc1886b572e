import type { SystemMessage, TranscriptMessage } from '../../../../model/registry/provider-config.ts';
import type { ToolSpec } from '../../../../model/request.ts';
import type { Context } from './model-calls.ts';

/** The form in which pi calls providers: prompt and tools are part of system messages. */
export interface TranscriptContext {
  readonly messages: readonly TranscriptMessage[];
}

type AnyMessages = readonly { readonly role: string }[];

/** The system message that holds a prompt and tools; undefined if both are empty. */
export function createInitialSystemMessage(
  systemPrompt: string | undefined,
  tools: readonly ToolSpec[] | undefined,
): SystemMessage | undefined {
  if (!systemPrompt && !tools?.length) return undefined;
  return { role: 'system', content: systemPrompt ?? '', ...(tools?.length ? { toolsAdded: tools } : {}), timestamp: 0 };
}

/**
 * Moves `systemPrompt` and `tools` of a context into its first system message. They override the fields of a first
 * system message that is there already, as in the contexts that tau gives to providers of extensions.
 */
export function normalizeContext({ systemPrompt, tools, messages }: Context): TranscriptContext {
  const first = getInitialSystemMessage(messages);
  if (systemPrompt === undefined && tools === undefined) return { messages: [...messages] };
  const replaced = createInitialSystemMessage(
    systemPrompt ?? (first && getSystemMessageText(first)),
    tools ?? first?.toolsAdded,
  );
  return { messages: [...(replaced ? [replaced] : []), ...withoutInitialSystemMessage(messages)] };
}

export function getInitialSystemMessage(messages: AnyMessages): SystemMessage | undefined {
  const [first] = messages;
  return first && isSystemMessage(first) ? first : undefined;
}

export const withoutInitialSystemMessage = <M extends { readonly role: string }>(messages: readonly M[]): M[] =>
  messages.slice(getInitialSystemMessage(messages) ? 1 : 0);

/** The tools after all system messages, in the order of their declaration. */
export function getCurrentTools(messages: AnyMessages): ToolSpec[] {
  const tools = new Map<string, ToolSpec>();
  for (const { toolsRemoved = [], toolsAdded = [] } of messages.filter(isSystemMessage)) {
    for (const { name } of toolsRemoved) tools.delete(name);
    for (const tool of toolsAdded) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/** Merges all system messages into one: texts are appended, sections replaced by name, tools added and removed. */
export function getCurrentSystemMessage(messages: AnyMessages): SystemMessage | undefined {
  const system = messages.filter(isSystemMessage);
  const [first] = system;
  if (!first) return undefined;
  const sections = Object.assign({}, ...system.map((message) => message.sections ?? {})) as SystemMessage['sections'];
  const kept = Object.entries(sections ?? {}).filter(([, text]) => text !== null);
  const tools = getCurrentTools(system);
  return {
    role: 'system',
    content: joinTexts(system.map(({ content }) => contentText(content))),
    ...(kept.length > 0 ? { sections: Object.fromEntries(kept) } : {}),
    ...(tools.length > 0 ? { toolsAdded: tools } : {}),
    timestamp: first.timestamp,
  };
}

export function getCurrentSystemPrompt(messages: AnyMessages): string {
  const message = getCurrentSystemMessage(messages);
  return message ? getSystemMessageText(message) : '';
}

/** A transcript whose only system message comes first and has the effect of all. */
export function collapseSystemMessages({ messages }: TranscriptContext): TranscriptContext {
  const system = getCurrentSystemMessage(messages);
  return { messages: [...(system ? [system] : []), ...messages.filter((message) => !isSystemMessage(message))] };
}

/** Collapses system messages unless the model accepts them within the conversation. */
export const resolveTranscript = (
  context: TranscriptContext,
  supportsMidConvoSystemMessages: boolean | undefined,
): TranscriptContext => (supportsMidConvoSystemMessages ? context : collapseSystemMessages(context));

/** Text blocks joined by a separator. */
export function contentText(
  content: string | readonly { readonly type: string; readonly text?: string }[],
  separator = '\n',
): string {
  if (typeof content === 'string') return content;
  return content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join(separator);
}

export const getSystemMessageText = ({ content, sections }: SystemMessage): string =>
  joinTexts([contentText(content), ...Object.values(sections ?? {}).map((text) => text ?? '')]);

/** A later system message as text for the model, with the names of the changed sections. */
export const renderSystemMessageUpdate = ({ content, sections }: SystemMessage): string =>
  joinTexts([
    contentText(content),
    ...Object.entries(sections ?? {}).map(([name, text]) =>
      text === null
        ? `The section "${name}" of the system prompt no longer applies.`
        : `The section "${name}" of the system prompt is now:\n\n${text}`,
    ),
  ]);

/** The fields of a tool that a model gets. */
export const toToolDeclaration = ({ name, description, parameters }: ToolSpec): ToolSpec =>
  JSON.parse(JSON.stringify({ name, description, parameters }));

export const declarationsEqual = (one: ToolSpec, other: ToolSpec): boolean =>
  JSON.stringify(toToolDeclaration(one)) === JSON.stringify(toToolDeclaration(other));

/** Additions and removals between two lists of tools; a changed tool is removed and added. */
export function getToolStateChanges(
  previous: readonly ToolSpec[],
  current: readonly ToolSpec[],
): { toolsAdded: ToolSpec[]; toolsRemoved: { name: string }[] } {
  const missingIn = (tools: readonly ToolSpec[]) => (tool: ToolSpec) =>
    !tools.some((other) => other.name === tool.name && declarationsEqual(other, tool));
  return {
    toolsAdded: current.filter(missingIn(previous)).map(toToolDeclaration),
    toolsRemoved: previous.filter(missingIn(current)).map(({ name }) => ({ name })),
  };
}

/** Every tool that a transcript declares, each in its last form. */
export function getDeclaredTools(messages: AnyMessages): ToolSpec[] {
  const declared = messages.filter(isSystemMessage).flatMap(({ toolsAdded = [] }) => toolsAdded);
  return [...new Map(declared.map((tool) => [tool.name, tool])).values()];
}

/** Whether a transcript declares one tool name in two forms. */
export function hasToolRedefinitions(messages: AnyMessages): boolean {
  const declared = messages.filter(isSystemMessage).flatMap(({ toolsAdded = [] }) => toolsAdded);
  return declared.some((tool) => declared.some(({ name }, at) => name === tool.name && !sameAt(declared, at, tool)));
}

/** Whether a transcript removes or changes a tool. */
export const hasNonAdditiveToolChanges = (messages: AnyMessages): boolean =>
  hasToolRedefinitions(messages) ||
  messages.filter(isSystemMessage).some(({ toolsRemoved = [] }) => toolsRemoved.length > 0);

/** tau declares all current tools with the request, whatever a model supports. */
export const resolveTranscriptTools = (
  messages: AnyMessages,
): { requestTools: ToolSpec[]; foldedSystemMessages: number } => ({
  requestTools: getCurrentTools(messages),
  foldedSystemMessages: messages.filter(isSystemMessage).length,
});

const sameAt = (tools: readonly ToolSpec[], at: number, tool: ToolSpec) => {
  const other = tools[at];
  return other !== undefined && declarationsEqual(other, tool);
};

const isSystemMessage = (message: { readonly role: string }): message is SystemMessage => message.role === 'system';

const joinTexts = (texts: readonly string[]) => texts.filter((text) => text !== '').join('\n\n');
