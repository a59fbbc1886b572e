import type { ImageContent, Model } from '../../../protocol/generated/vocabulary.ts';
import type { ToolSpec } from '../../request.ts';
import type { ScriptedCall, ScriptedStep } from '../step.ts';
import { bare, countTo, shellWord, unpunctuated, unquoted } from './wording.ts';

/** The tools, images and model that a request may use. */
export interface PhraseContext {
  readonly tools: readonly ToolSpec[];
  readonly images: readonly ImageContent[];
  readonly model: Model;
}

/** The steps for a request in plain English. */
export interface PhrasePlan {
  readonly steps: readonly ScriptedStep[];
  /** Following text belongs to it unless it is a request of its own. */
  readonly open: boolean;
}

interface Phrase {
  readonly pattern: RegExp;
  readonly open: boolean;
  readonly steps: (found: Groups, means: PhraseContext) => readonly ScriptedStep[];
}

type Groups = Readonly<Record<string, string | undefined>>;

/** Parses a request; undefined if it is none of the known phrases. */
export function planFor(request: string, context: PhraseContext): PhrasePlan | undefined {
  const text = unquoted(request).replace(courtesy, '');
  for (const { pattern, open, steps } of phrases) {
    const found = pattern.exec(open ? text : unpunctuated(text));
    if (found) return { steps: steps(found.groups ?? {}, context), open };
  }
  return undefined;
}

const courtesy =
  /^(?:(?:[-*•]|\d+[.)]|please|hi|hello|hey|ok|okay|now|first|then|next|finally|also|and|so|tau|(?:can|could|would|will) you)[\s,:.!]+)+/i;

// A space in the pattern matches any white space.
const spacedPattern = (source: string): RegExp => new RegExp(source.replaceAll(' ', '\\s+'), 'isu');

const quoted = '`[^`]+`|"[^"]+"|\'[^\']+\'|“[^”]+”';
const path = `(?:${quoted}|[^\\s\`"“”,]+)`;
const folderName = ` (?:in|of|under)(?: the)?(?: (?:folder|directory))? (?<where>${path})(?: (?:folder|directory))?`;

const phrases: readonly Phrase[] = [
  {
    pattern: spacedPattern(
      `^(?:list|show)(?: me)?(?: all)?(?: (?:the|my))? files(?: here| in (?:this|the) (?:folder|directory)|${folderName})?$`,
    ),
    open: false,
    steps: ({ where = '' }, { tools }) => {
      const folder = bare(where);
      const bash = { name: 'bash', arguments: { command: folder === '' ? 'ls -la' : `ls -la ${shellWord(folder)}` } };
      return [offeredCall(tools, bash, { name: 'ls', arguments: folder === '' ? {} : { path: folder } })];
    },
  },
  {
    pattern: spacedPattern(
      `^(?:read|show(?: me)?)(?: (?:the|this|my))?(?: (?:files?|contents? of|text of)(?: the)?(?: file)?)? (?<files>${path}(?:(?:,| and|, and) ${path})*)$`,
    ),
    open: false,
    steps: ({ files = '' }, { tools }) =>
      namesIn(files).map((file) => offeredCall(tools, { name: 'read', arguments: { path: file } })),
  },
  {
    pattern: spacedPattern('^run(?: the command)?(?::\\s*| )(?!the )(?<command>.+)$'),
    open: true,
    steps: ({ command = '' }, { tools }) => {
      const marked = /^`([^`]+)`/.exec(command)?.[1];
      return [offeredCall(tools, { name: 'bash', arguments: { command: marked ?? bare(command) } })];
    },
  },
  {
    pattern: spacedPattern(
      `^(?:write|create)(?: (?:the|a))?(?: file)? (?<file>${quoted}|[^\\s:]+)\\s*:(?<content>.*)$`,
    ),
    open: true,
    steps: ({ file = '', content = '' }, { tools }) => [
      offeredCall(tools, { name: 'write', arguments: { path: unquoted(file), content: unquoted(content) } }),
    ],
  },
  {
    pattern: spacedPattern('^think(?: (?:hard|deeply))? (?:about|of|over) (?<subject>.+)$'),
    open: true,
    steps: ({ subject = '' }, { model }) => {
      const reply = { text: `I thought about ${bare(subject)}, as far as a script can.` };
      return model.reasoning ? [{ thinking: `This is about ${bare(subject)}.` }, reply] : [reply];
    },
  },
  {
    pattern: spacedPattern('^fail(?:(?: with)?(?: (?:an?|status|error|code))* (?<status>[1-9]\\d\\d)(?: error)?)?$'),
    open: false,
    steps: ({ status = '500' }) => [{ error: { status: Number(status) } }],
  },
  {
    pattern: spacedPattern('^stall(?: now| forever)?$'),
    open: false,
    steps: () => [{ text: 'From here on nothing comes.' }, { stall: true }],
  },
  {
    pattern: spacedPattern('^overflow(?: the context(?: window)?)?$'),
    open: false,
    steps: () => [{ overflow: true }],
  },
  {
    pattern: spacedPattern('^cut(?: off)?(?: (?:the|this))? (?:stream|connection)$'),
    open: false,
    steps: () => [{ text: 'This sentence is cut' }, { cut: true }],
  },
  {
    pattern: spacedPattern('^count(?: up)?(?: from (?:1|one))? to (?<end>\\d[\\d,_]*)$'),
    open: false,
    steps: ({ end = '' }) => [{ text: countTo(Number(end.replace(/\D/g, ''))) }],
  },
  {
    pattern: spacedPattern('^say(?::\\s*| )(?<speech>.+)$'),
    open: true,
    steps: ({ speech = '' }) => [{ text: unquoted(speech) }],
  },
  {
    pattern: spacedPattern(
      '^(?:what|which|how many|describe|look at|tell me)\\b.*\\b(?:image|picture|photo|screenshot)s?\\b',
    ),
    open: false,
    // Images are reported in any case.
    steps: (_found, { images }) => (images.length > 0 ? [] : [{ text: 'There is no image in your message.' }]),
  },
];

const namesIn = (list: string): string[] =>
  (list.match(new RegExp(path, 'gu')) ?? []).filter((name) => !/^and$/i.test(name)).map(bare);

// The first call whose tool is offered, or a text about the missing tool.
function offeredCall(tools: readonly ToolSpec[], preferred: ScriptedCall, alternative = preferred): ScriptedStep {
  const toolCall = [preferred, alternative].find(({ name }) => tools.some((tool) => tool.name === name));
  return toolCall ? { toolCall } : { text: `That needs the tool ${preferred.name}, which is not offered to me.` };
}
