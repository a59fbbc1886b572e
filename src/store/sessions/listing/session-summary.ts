import { firstLine } from '../../../protocol/matching/first-line.ts';
import { isForeignRole } from '../entry-reader.ts';
import { readHeader } from '../header.ts';
import { parseObject } from '../indexing/line-facts.ts';
import { quickParse, quickParseRole } from '../indexing/quick-parse.ts';
import { eachLine, type ListedLine } from './file-lines.ts';
import { type UsageTotals, usageOfEntry, usageOfMessage } from './line-usage.ts';

// Characters of the first message in a listing.
const FIRST_MESSAGE_LENGTH = 500;

// Characters of a title made from the first message.
const TITLE_LENGTH = 80;

/** The summary of a session file in a listing. */
export interface FileSummary {
  readonly id: string;
  readonly cwd: string;
  readonly firstMessage: string;
  /** Of all branches, as `get_session_stats` counts them. */
  readonly messageCount: number;
  readonly title?: string;
  readonly name?: string;
  readonly parentSession?: string;
  readonly cost?: number;
  readonly tokens?: number;
}

/** Summarises an open session file, yielding after every block; undefined for any other file. */
export function* summarize(
  fd: number,
  isListed: (cwd: string) => boolean,
): Generator<void, FileSummary | 'excluded' | undefined> {
  const header = readHeader(fd);
  if (!header) return undefined;
  if (!isListed(header.cwd)) return 'excluded';
  const { parentSession } = header;
  const builder = new SummaryBuilder(typeof parentSession === 'string' ? Date.parse(header.timestamp) : undefined);
  yield* eachLine(fd, (line) => builder.add(line));
  const { firstMessage = '', messageCount, usage } = builder;
  const name = builder.name?.text;
  const title = titleOf(builder);
  return {
    id: header.id,
    cwd: header.cwd,
    firstMessage,
    messageCount,
    ...(title === '' ? {} : { title }),
    ...(name === undefined ? {} : { name }),
    ...(typeof parentSession === 'string' ? { parentSession } : {}),
    ...usage,
  };
}

/** A copy of a session has a title of its own once something was added to it. */
function titleOf({ name, ownTitle, title, firstCommand = '' }: SummaryBuilder): string {
  if (name && (name.isOwn || !ownTitle)) return name.text;
  return truncate(ownTitle || title || lineOf(firstCommand), TITLE_LENGTH);
}

/** Accumulates the summary line by line. */
class SummaryBuilder {
  readonly #copiedAt: number | undefined;
  messageCount = 0;
  firstMessage: string | undefined;
  /** Of a shell command, with `!`. */
  firstCommand: string | undefined;
  /** The first line of the first user message. */
  title: string | undefined;
  /** The same of the first one that was added after the session was copied. */
  ownTitle: string | undefined;
  name: { readonly text: string; readonly isOwn: boolean } | undefined;
  /** Undefined once an assistant message has unreadable usage. */
  usage: UsageTotals | undefined = { tokens: 0, cost: 0 };

  /** `copiedAt`: the time at which a copy was made. */
  constructor(copiedAt: number | undefined) {
    this.#copiedAt = copiedAt;
  }

  add(line: ListedLine): void {
    const { type, role, entry } = factsOf(line);
    switch (type) {
      case 'message':
        this.#addMessage(role, line);
        break;
      case 'session_info': {
        const info = entry ?? objectIn(line);
        const { name } = info;
        this.name = typeof name === 'string' && name !== '' ? { text: name, isOwn: this.#isOwn(info) } : undefined;
        break;
      }
      case 'usage':
      case 'compaction':
      case 'branch_summary':
        this.#addUsage(usageOfEntry(entry ?? objectIn(line)));
        break;
      default:
    }
  }

  #addMessage(role: unknown, line: ListedLine): void {
    if (role === undefined || isForeignRole(role)) return;
    this.messageCount++;
    if (role === 'user' && !this.firstMessage) {
      const text = textIn(line);
      this.firstMessage = truncate(text, FIRST_MESSAGE_LENGTH);
      this.title = lineOf(text);
    }
    if (role === 'user' && this.#copiedAt !== undefined) this.#addToCopy(line);
    if (role === 'bashExecution') this.firstCommand ??= `!${commandIn(line)}`;
    if (role === 'assistant') this.#addUsage(usageOfMessage(line));
  }

  #addToCopy(line: ListedLine): void {
    if (!this.ownTitle && this.#isOwn(objectIn(line))) this.ownTitle = lineOf(textIn(line));
  }

  /** Whether an entry was added after the session was copied. */
  #isOwn({ timestamp }: Readonly<Record<string, unknown>>): boolean {
    return this.#copiedAt === undefined || Date.parse(String(timestamp)) > this.#copiedAt;
  }

  #addUsage(more: UsageTotals | undefined): void {
    const { usage } = this;
    this.usage = usage && more && { tokens: usage.tokens + more.tokens, cost: usage.cost + more.cost };
  }
}

interface SummaryFacts {
  readonly type: unknown;
  readonly role?: unknown;
  /** Of a line that had to be parsed. */
  readonly entry?: Record<string, unknown>;
}

/** Entries of version 1 have no id, so they are parsed. */
function factsOf(line: ListedLine): SummaryFacts {
  const messageRole = quickParseRole(line.bytes, line.start, line.end);
  if (messageRole !== undefined) return { type: 'message', role: messageRole };
  const facts = quickParse(line.bytes, line.start, line.end);
  if (facts) return { type: facts.type, role: facts.kind };
  const entry = objectIn(line);
  const { role } = (entry['message'] ?? {}) as { role?: unknown };
  return { type: entry['type'], role, entry };
}

const lineOf = (text: string): string => firstLine(text) || (text.split('\n', 1)[0] ?? '');

const objectIn = (line: ListedLine) => parseObject(line.text() ?? '') ?? {};

/** The text of the message in a line. */
function textIn(line: ListedLine): string {
  const { content } = (objectIn(line)['message'] ?? {}) as { content?: unknown };
  if (typeof content === 'string') return content.trim();
  if (!Array.isArray(content)) return '';
  const texts = content.map((block: { text?: unknown } | null) => block?.text);
  return texts
    .filter((text) => typeof text === 'string')
    .join('')
    .trim();
}

function commandIn(line: ListedLine): string {
  const { command } = (objectIn(line)['message'] ?? {}) as { command?: unknown };
  return typeof command === 'string' ? command.trim() : '';
}

/** Truncates to this many characters without splitting a surrogate pair. */
function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
