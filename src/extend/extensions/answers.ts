import type {
  AgentMessage,
  AssistantMessage,
  ContentBlock,
  ImageContent,
  ToolResultMessage,
} from '../../protocol/generated/vocabulary.ts';
import { imageProblem } from '../../session/input/input.ts';
import type { Answered, EntryDraft, EventName, SaidByExtension, Told } from './events.ts';

type Values = Record<string, unknown>;

/** What a handler answered, as far as it makes sense. Throws where it does not: other people's code answers anything. */
export function sifted<E extends EventName>(answer: unknown, told: Told<E>): Answered<E> | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const sift = sifters[told.type] as ((answer: Values, told: Told<E>) => unknown) | undefined;
  // What runs commands is a function, of which there is no copy.
  const values = told.type === 'user_bash' ? (answer as Values) : plainCopy(answer as Values);
  return (sift ? sift(values, told) : values) as Answered<E>;
}

/** A copy that holds data and nothing else: no getters, no rings, nobody who changes it later. */
export function plainCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const sifters: { readonly [E in EventName]?: (answer: Values, told: Told<E>) => unknown } = {
  resources_discover: ({ skillPaths, promptPaths }) => ({
    skillPaths: texts('skillPaths', skillPaths),
    promptPaths: texts('promptPaths', promptPaths),
  }),
  input: ({ action, text, images }) => {
    if (action !== 'transform') return { action };
    return { action, text: word('text', text), ...(images === undefined ? {} : { images: pictures(images) }) };
  },
  before_agent_start: ({ message, systemPrompt }) => ({
    ...(message === undefined ? {} : { message: saying(message) }),
    ...(systemPrompt === undefined ? {} : { systemPrompt: word('systemPrompt', systemPrompt) }),
  }),
  context: ({ messages }) => (messages === undefined ? {} : { messages: conversation(messages) }),
  message_end: ({ message }, told) => (message === undefined ? {} : { message: reworded(message, told.message) }),
  turn_end: (answer) => boundary(answer),
  agent_before_settle: (answer) => boundary(answer),
  tool_call: ({ block, reason }) => ({
    block: Boolean(block),
    ...(reason === undefined ? {} : { reason: String(reason) }),
  }),
  tool_result: ({ content, details, isError }) => ({
    ...(content === undefined ? {} : { content: blocks('content', content) }),
    ...(details === undefined ? {} : { details }),
    ...(isError === undefined ? {} : { isError: isError === true }),
  }),
  user_bash: ({ result, operations }) => {
    if (typeof (operations as Values | undefined)?.['exec'] === 'function') return { operations };
    return result === undefined ? {} : { result: plainCopy(result) };
  },
  session_before_compact: ({ cancel, compaction }, told) => ({
    cancel: Boolean(cancel),
    ...(compaction === undefined ? {} : { compaction: summaryOf(compaction as Values, told) }),
  }),
  session_before_tree: ({ cancel, summary, customInstructions, replaceInstructions, label }) => ({
    cancel: Boolean(cancel),
    ...(summary === undefined ? {} : { summary: treeSummary(summary as Values) }),
    ...(customInstructions === undefined ? {} : { customInstructions: String(customInstructions) }),
    ...(replaceInstructions === undefined ? {} : { replaceInstructions: replaceInstructions === true }),
    ...(label === undefined ? {} : { label: String(label) }),
  }),
};

export function word(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
  return value;
}

function list(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list`);
  return value;
}

const texts = (name: string, value: unknown): string[] => (value === undefined ? [] : list(name, value).map(String));

function object(name: string, value: unknown): Values {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${name} must be an object`);
  return value as Values;
}

/** Text and images, and nothing else in them. */
export function blocks(name: string, value: unknown): ContentBlock[] {
  return list(name, value).map((item, index) => {
    const place = `${name}[${index}]`;
    if (typeof item === 'string') return { type: 'text', text: item };
    const { type, text, ...rest } = object(place, item);
    if (type === 'text') return { type, text: word(`${place}.text`, text) };
    if (type === 'image') return picture(place, rest);
    throw new TypeError(`${place} must be a text or an image`);
  });
}

function picture(place: string, { data, mimeType }: Values): ImageContent {
  const image: ImageContent = {
    type: 'image',
    data: word(`${place}.data`, data),
    mimeType: word(`${place}.mimeType`, mimeType),
  };
  const problem = imageProblem(image);
  if (problem) throw new TypeError(`${place} ${problem}`);
  return image;
}

export const pictures = (value: unknown): ImageContent[] =>
  list('images', value).map((item, index) => picture(`images[${index}]`, object(`images[${index}]`, item)));

/** A message that an extension wants said. */
export function saying(value: unknown): SaidByExtension {
  const { customType, content, display, details } = object('message', plainCopy(value));
  return {
    customType: word('message.customType', customType),
    content: typeof content === 'string' ? content : blocks('message.content', content),
    display: display !== false,
    ...(details === undefined ? {} : { details }),
  };
}

/** What messages of each role must say beside their content. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: [],
  assistant: [],
  toolResult: ['toolCallId', 'toolName'],
  custom: ['customType'],
  bashExecution: ['command', 'output'],
  branchSummary: ['summary'],
  compactionSummary: ['summary'],
};

const WITH_CONTENT: ReadonlySet<unknown> = new Set(['user', 'assistant', 'toolResult', 'custom']);

/** A conversation that a model can be told. */
export const conversation = (value: unknown): AgentMessage[] =>
  list('messages', value).map((item, index) => {
    const place = `messages[${index}]`;
    const message = object(place, item);
    const { role } = message;
    if (typeof role !== 'string' || !Object.hasOwn(PARTS, role))
      throw new TypeError(`${place}.role is none that there is`);
    for (const name of PARTS[role] ?? []) word(`${place}.${name}`, message[name]);
    if (!WITH_CONTENT.has(role)) return item as AgentMessage;
    const { content } = message;
    if (typeof content === 'string' && (role === 'user' || role === 'custom')) return item as AgentMessage;
    const said = role === 'assistant' ? answerBlocks(content) : blocks(`${place}.content`, content);
    return { ...message, content: said } as unknown as AgentMessage;
  });

/** A message stays what it is; what it says may change. */
function reworded(value: unknown, before: AgentMessage): AgentMessage {
  const { role, content, details, isError } = object('message', value);
  if (role !== before.role) throw new TypeError(`message.role must stay ${before.role}`);
  if (before.role === 'assistant') return { ...before, content: answerBlocks(content) };
  if (before.role !== 'toolResult') throw new TypeError(`a message of ${before.role} is said already`);
  const result: ToolResultMessage = { ...before, content: blocks('message.content', content) };
  return {
    ...result,
    ...(details === undefined ? {} : { details }),
    ...(isError === undefined ? {} : { isError: isError === true }),
  };
}

const answerBlocks = (value: unknown): AssistantMessage['content'] =>
  list('message.content', value).map((item, index) => {
    const place = `message.content[${index}]`;
    const block = object(place, item);
    if (block['type'] === 'text') word(`${place}.text`, block['text']);
    else if (block['type'] === 'thinking') word(`${place}.thinking`, block['thinking']);
    else if (block['type'] === 'toolCall') {
      word(`${place}.id`, block['id']);
      word(`${place}.name`, block['name']);
      object(`${place}.arguments`, block['arguments']);
    } else throw new TypeError(`${place} must be a text, thinking or a tool call`);
    return block as unknown as AssistantMessage['content'][number];
  });

function boundary({ entries, continue: goesOn }: Values) {
  return {
    entries: (entries === undefined ? [] : list('entries', entries)).map(draft),
    continue: goesOn === true,
  };
}

function draft(value: unknown, index: number): EntryDraft {
  const place = `entries[${index}]`;
  const { type, customType, data, targetId, replacement, ...rest } = object(place, value);
  switch (type) {
    case 'custom':
      return { type, customType: word(`${place}.customType`, customType), ...(data === undefined ? {} : { data }) };
    case 'custom_message':
      return { type, ...saying({ customType, ...rest }) };
    case 'context_edit': {
      const [said] = replacement === null ? [null] : conversation([replacement]);
      return { type, targetId: word(`${place}.targetId`, targetId), replacement: said ?? null };
    }
    default:
      throw new TypeError(`${place}.type must be custom, custom_message or context_edit`);
  }
}

function summaryOf({ summary, firstKeptEntryId, tokensBefore, details }: Values, told: Told<'session_before_compact'>) {
  const kept = firstKeptEntryId ?? told.preparation.firstKeptEntryId;
  if (!told.branchEntries.some(({ id }) => id === kept)) {
    throw new TypeError(`compaction.firstKeptEntryId is no entry of this branch: ${String(kept)}`);
  }
  return {
    summary: word('compaction.summary', summary),
    firstKeptEntryId: kept,
    tokensBefore: typeof tokensBefore === 'number' && tokensBefore >= 0 ? tokensBefore : told.preparation.tokensBefore,
    ...(details === undefined ? {} : { details }),
  };
}

const treeSummary = ({ summary, details }: Values) => ({
  summary: word('summary.summary', summary),
  ...(details === undefined ? {} : { details }),
});
