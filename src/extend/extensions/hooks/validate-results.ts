import type {
  AgentMessage,
  AssistantMessage,
  ContentBlock,
  ImageContent,
  ToolResultMessage,
  Usage,
} from '../../../protocol/generated/vocabulary.ts';
import { imageProblem } from '../../../session/input/input.ts';
import type { ContextReplacement } from '../../../session/transcript.ts';
import type {
  BoundaryResult,
  CustomMessageDraft,
  EventName,
  ExtensionEntryDraft,
  ExtensionEvent,
  HandlerResult,
} from '../events.ts';

type Values = Record<string, unknown>;

/** Validates and copies the result of a handler; throws if a field has the wrong type. */
export function validateResult<E extends EventName>(
  result: unknown,
  event: ExtensionEvent<E>,
): HandlerResult<E> | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const validate = validators[event.type] as ((result: Values, event: ExtensionEvent<E>) => unknown) | undefined;
  // `operations` holds a function, which cannot be copied.
  const values = event.type === 'user_bash' ? (result as Values) : plainCopy(result as Values);
  return (validate ? validate(values, event) : values) as HandlerResult<E>;
}

/** A JSON copy: without getters and cycles, and independent of later changes. */
export function plainCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const validators: { readonly [E in EventName]?: (result: Values, event: ExtensionEvent<E>) => unknown } = {
  resources_discover: ({ skillPaths, promptPaths }) => ({
    skillPaths: stringList('skillPaths', skillPaths),
    promptPaths: stringList('promptPaths', promptPaths),
  }),
  input: ({ action, text, images }) => {
    if (action !== 'transform') return { action };
    return { action, text: stringAt('text', text), ...(images === undefined ? {} : { images: parseImages(images) }) };
  },
  before_agent_start: ({ message, systemPrompt }) => ({
    ...(message === undefined ? {} : { message: parseCustomMessage(message) }),
    ...(systemPrompt === undefined ? {} : { systemPrompt: stringAt('systemPrompt', systemPrompt) }),
  }),
  context: ({ messages }) => (messages === undefined ? {} : { messages: parseMessages(messages) }),
  context_with_system: ({ messages }) => (messages === undefined ? {} : { messages: listAt('messages', messages) }),
  message_end: ({ message }, event) =>
    message === undefined ? {} : { message: parseReplacement(message, event.message) },
  turn_end: (result) => parseBoundary(result),
  agent_before_settle: (result) => parseBoundary(result),
  tool_call: ({ block, reason, terminate }) => ({
    block: Boolean(block),
    ...(reason === undefined ? {} : { reason: String(reason) }),
    ...(terminate === true ? { terminate } : {}),
  }),
  tool_result: ({ content, details, isError, structuredContent, usage }) => ({
    ...(content === undefined ? {} : { content: toBlocks('content', content) }),
    ...(details === undefined ? {} : { details }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(usage === undefined ? {} : { usage: parseUsage('usage', usage) }),
    ...(isError === undefined ? {} : { isError: isError === true }),
  }),
  user_bash: ({ result, operations }) => {
    if (typeof (operations as Values | undefined)?.['exec'] === 'function') return { operations };
    return result === undefined ? {} : { result: plainCopy(result) };
  },
  session_before_compact: ({ cancel, compaction }, event) => ({
    cancel: Boolean(cancel),
    ...(compaction === undefined ? {} : { compaction: parseCompaction(compaction as Values, event) }),
  }),
  session_before_tree: ({ cancel, summary, customInstructions, replaceInstructions, label }) => ({
    cancel: Boolean(cancel),
    ...(summary === undefined ? {} : { summary: parseTreeSummary(summary as Values) }),
    ...(customInstructions === undefined ? {} : { customInstructions: String(customInstructions) }),
    ...(replaceInstructions === undefined ? {} : { replaceInstructions: replaceInstructions === true }),
    ...(label === undefined ? {} : { label: String(label) }),
  }),
};

export function stringAt(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
  return value;
}

function listAt(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list`);
  return value;
}

export const stringList = (name: string, value: unknown): string[] =>
  value === undefined ? [] : listAt(name, value).map(String);

function objectAt(name: string, value: unknown): Values {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${name} must be an object`);
  return value as Values;
}

/** Content blocks reduced to their known fields. */
export function toBlocks(name: string, value: unknown): ContentBlock[] {
  return listAt(name, value).map((item, index) => {
    const path = `${name}[${index}]`;
    if (typeof item === 'string') return { type: 'text', text: item };
    const { type, text, ...rest } = objectAt(path, item);
    if (type === 'text') return { type, text: stringAt(`${path}.text`, text) };
    if (type === 'image') return parseImage(path, rest);
    throw new TypeError(`${path} must be a text or an image`);
  });
}

function parseImage(path: string, { data, mimeType }: Values): ImageContent {
  const image: ImageContent = {
    type: 'image',
    data: stringAt(`${path}.data`, data),
    mimeType: stringAt(`${path}.mimeType`, mimeType),
  };
  const problem = imageProblem(image);
  if (problem) throw new TypeError(`${path} ${problem}`);
  return image;
}

export const parseImages = (value: unknown): ImageContent[] =>
  listAt('images', value).map((item, index) => parseImage(`images[${index}]`, objectAt(`images[${index}]`, item)));

export function parseCustomMessage(value: unknown): CustomMessageDraft {
  const { customType, content, display, details } = objectAt('message', plainCopy(value));
  return {
    customType: stringAt('message.customType', customType),
    content: typeof content === 'string' ? content : toBlocks('message.content', content),
    display: display !== false,
    ...(details === undefined ? {} : { details }),
  };
}

// String fields that a message of each role must have.
const REQUIRED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  user: [],
  assistant: [],
  toolResult: ['toolCallId', 'toolName'],
  custom: ['customType'],
  bashExecution: ['command', 'output'],
  branchSummary: ['summary'],
  compactionSummary: ['summary'],
};

const ROLES_WITH_CONTENT: ReadonlySet<unknown> = new Set(['user', 'assistant', 'toolResult', 'custom']);

export const parseMessages = (value: unknown): AgentMessage[] =>
  listAt('messages', value).map((item, index) => {
    const path = `messages[${index}]`;
    const message = objectAt(path, item);
    const { role } = message;
    if (typeof role !== 'string' || !Object.hasOwn(REQUIRED_FIELDS, role))
      throw new TypeError(`${path}.role is none that there is`);
    for (const name of REQUIRED_FIELDS[role] ?? []) stringAt(`${path}.${name}`, message[name]);
    if (!ROLES_WITH_CONTENT.has(role)) return item as AgentMessage;
    const { content } = message;
    if (typeof content === 'string' && (role === 'user' || role === 'custom')) return item as AgentMessage;
    const checked = role === 'assistant' ? parseAssistantBlocks(content) : toBlocks(`${path}.content`, content);
    return { ...message, content: checked } as unknown as AgentMessage;
  });

// A handler may change the content of a message, not its role.
function parseReplacement(value: unknown, original: AgentMessage): AgentMessage {
  const { role, content, details, isError } = objectAt('message', value);
  if (role !== original.role) throw new TypeError(`message.role must stay ${original.role}`);
  if (original.role === 'assistant') return { ...original, content: parseAssistantBlocks(content) };
  if (original.role === 'user') return { ...original, content: parseUserContent(content) };
  if (original.role !== 'toolResult') throw new TypeError(`a message of ${original.role} is already sent`);
  const result: ToolResultMessage = { ...original, content: toBlocks('message.content', content) };
  return {
    ...result,
    ...(details === undefined ? {} : { details }),
    ...(isError === undefined ? {} : { isError: isError === true }),
  };
}

function parseUserContent(content: unknown): ContentBlock[] {
  const blocks =
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : toBlocks('message.content', content);
  if (blocks.length === 0) throw new TypeError('message.content must not be empty');
  return blocks;
}

const parseAssistantBlocks = (value: unknown): AssistantMessage['content'] =>
  listAt('message.content', value).map((item, index) => {
    const path = `message.content[${index}]`;
    const block = objectAt(path, item);
    if (block['type'] === 'text') stringAt(`${path}.text`, block['text']);
    else if (block['type'] === 'thinking') stringAt(`${path}.thinking`, block['thinking']);
    else if (block['type'] === 'toolCall') {
      stringAt(`${path}.id`, block['id']);
      stringAt(`${path}.name`, block['name']);
      objectAt(`${path}.arguments`, block['arguments']);
    } else throw new TypeError(`${path} must be a text, thinking or a tool call`);
    return block as unknown as AssistantMessage['content'][number];
  });

const parseBoundary = ({ entries, continue: shouldContinue }: Values): BoundaryResult => ({
  ...(entries === undefined ? {} : { entries: listAt('entries', entries).map(parseEntryDraft) }),
  ...(shouldContinue === undefined ? {} : { continue: shouldContinue === true }),
});

function parseEntryDraft(value: unknown, index: number): ExtensionEntryDraft {
  const path = `entries[${index}]`;
  const { type, customType, data, targetId, replacement, ...rest } = objectAt(path, value);
  switch (type) {
    case 'custom':
      return { type, customType: stringAt(`${path}.customType`, customType), ...(data === undefined ? {} : { data }) };
    case 'custom_message':
      return { type, ...parseCustomMessage({ customType, ...rest }) };
    case 'context_edit':
      return {
        type,
        targetId: stringAt(`${path}.targetId`, targetId),
        replacement: parseReplacementContent(`${path}.replacement`, replacement),
      };
    case 'compaction':
      return { type, ...parseCompactionDraft(path, rest) };
    default:
      throw new TypeError(`${path}.type must be custom, custom_message, context_edit or compaction`);
  }
}

function parseCompactionDraft(path: string, { summary, firstKeptEntryId, details, usage }: Values) {
  return {
    summary: stringAt(`${path}.summary`, summary),
    firstKeptEntryId: firstKeptEntryId === null ? null : stringAt(`${path}.firstKeptEntryId`, firstKeptEntryId),
    ...(details === undefined ? {} : { details }),
    ...(usage === undefined ? {} : { usage: parseUsage(`${path}.usage`, usage) }),
  };
}

/** Token counts and costs; a missing number is zero. */
export function parseUsage(path: string, value: unknown): Usage {
  const { cost = {}, ...tokens } = objectAt(path, value);
  const counts = numbersIn(path, tokens);
  for (const name of USAGE_FIELDS) counts[name] = Math.round(counts[name]);
  const costs = numbersIn(`${path}.cost`, objectAt(`${path}.cost`, cost));
  const { totalTokens } = tokens;
  const isTotal = typeof totalTokens === 'number' && Number.isInteger(totalTokens) && totalTokens >= 0;
  return {
    ...counts,
    totalTokens: isTotal ? totalTokens : sumOf(counts),
    cost: { ...costs, total: typeof Object(cost).total === 'number' ? Object(cost).total : sumOf(costs) },
  };
}

const USAGE_FIELDS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
type UsageNumbers = Record<(typeof USAGE_FIELDS)[number], number>;

const sumOf = (numbers: UsageNumbers) => USAGE_FIELDS.reduce((sum, name) => sum + numbers[name], 0);

function numbersIn(path: string, values: Values): UsageNumbers {
  const numbers: UsageNumbers = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const name of USAGE_FIELDS) {
    const value = values[name] ?? 0;
    if (typeof value !== 'number' || !(value >= 0)) throw new TypeError(`${path}.${name} must be a number from 0`);
    numbers[name] = value;
  }
  return numbers;
}

/** New content of an edited entry, or null for its removal. */
export function parseReplacementContent(path: string, value: unknown): ContextReplacement | null {
  if (value === null) return null;
  const { content } = objectAt(path, value);
  if (typeof content === 'string') return { content };
  const isAssistant = Array.isArray(content) && content.some((block) => ASSISTANT_BLOCKS.has(Object(block).type));
  return { content: isAssistant ? parseAssistantBlocks(content) : toBlocks(`${path}.content`, content) };
}

const ASSISTANT_BLOCKS: ReadonlySet<unknown> = new Set(['thinking', 'toolCall']);

function parseCompaction(
  { summary, firstKeptEntryId, tokensBefore, details }: Values,
  event: ExtensionEvent<'session_before_compact'>,
) {
  const firstKept = firstKeptEntryId ?? event.preparation.firstKeptEntryId;
  if (!event.branchEntries.some(({ id }) => id === firstKept)) {
    throw new TypeError(`compaction.firstKeptEntryId is no entry of this branch: ${String(firstKept)}`);
  }
  return {
    summary: stringAt('compaction.summary', summary),
    firstKeptEntryId: firstKept,
    tokensBefore: typeof tokensBefore === 'number' && tokensBefore >= 0 ? tokensBefore : event.preparation.tokensBefore,
    ...(details === undefined ? {} : { details }),
  };
}

const parseTreeSummary = ({ summary, details }: Values) => ({
  summary: stringAt('summary.summary', summary),
  ...(details === undefined ? {} : { details }),
});
