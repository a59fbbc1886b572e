import { supportedLevels } from '../model/thinking-levels.ts';
import type { Model } from '../protocol/generated/vocabulary.ts';
import { terminalText } from '../system/terminal-text.ts';
import { cellWidth } from './chat/wrap.ts';

interface Column {
  readonly title: string;
  readonly cell: (model: Model) => string;
  // Aligned to the right.
  readonly isNumber?: boolean;
}

// The first six titles are pi's, and each is one word: programs split the lines at white space.
const columns: readonly Column[] = [
  { title: 'provider', cell: ({ provider }) => provider },
  { title: 'model', cell: ({ id }) => id },
  { title: 'context', cell: ({ contextWindow }) => tokens(contextWindow), isNumber: true },
  { title: 'max-out', cell: ({ maxTokens }) => tokens(maxTokens), isNumber: true },
  { title: 'thinking', cell: thinking },
  { title: 'images', cell: ({ input }) => (input.includes('image') ? 'yes' : NO_VALUE) },
  { title: '$/m-in', cell: ({ cost }) => dollars(cost.input), isNumber: true },
  { title: '$/m-out', cell: ({ cost }) => dollars(cost.output), isNumber: true },
];

const NO_VALUE = '-';

const NOTHING_TO_LIST = `No models. Set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY,
or describe your own models in models.json.
`;

/** Formats the output of `--list-models [search]`. */
export function modelList(models: readonly Model[], search = ''): string {
  if (models.length === 0) return NOTHING_TO_LIST;
  const found = matching(models, search).toSorted(byName);
  const [first] = found;
  if (!first) return `No model matches ${oneLine(JSON.stringify(search))}. All of them: tau --list-models\n`;
  const example = oneLine(`${first.provider}/${first.id}`);
  return `${table(found)}\nTo use one: tau --model ${example} (and :level after it, for how much it thinks)\n`;
}

/** Models that match every word of the search, or else contain its letters in order. */
function matching(models: readonly Model[], search: string): readonly Model[] {
  const words = search.split(/\s+/).map(normalized);
  const withWords = models.filter(({ provider, id, name }) => {
    const texts = [`${provider}/${id}`, name].map(normalized);
    return words.every((word) => texts.some((text) => text.includes(word)));
  });
  if (withWords.length > 0) return withWords;
  return models.filter(({ provider, id }) => containsInOrder(normalized(`${provider}/${id}`), words.join('')));
}

/** Makes `Opus 5.5` and `opus-5-5` equal. */
const normalized = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

function containsInOrder(text: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}

function byName(a: Model, b: Model): number {
  const compare = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true });
  return compare(a.provider, b.provider) || compare(a.id, b.id);
}

function table(models: readonly Model[]): string {
  const rows = [
    columns.map(({ title }) => title),
    ...models.map((model) => columns.map(({ cell }) => oneLine(cell(model)))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => cellWidth(row[index] ?? ''))));
  const padded = (cell: string, index: number) => {
    const padding = ' '.repeat((widths[index] ?? 0) - cellWidth(cell));
    return columns[index]?.isNumber ? padding + cell : cell + padding;
  };
  return rows.map((row) => `${row.map(padded).join('  ').trimEnd()}\n`).join('');
}

const oneLine = (cell: string) => terminalText(cell.replaceAll(/\s+/g, ' '));

function tokens(count: number): string {
  if (count < 1_000) return `${count}`;
  return count < 999_500 ? `${Math.round(count / 1_000)}K` : `${Math.round(count / 100_000) / 10}M`;
}

/** The range of thinking levels. */
function thinking(model: Model): string {
  const levels = supportedLevels(model).filter((level) => level !== 'off');
  const [least = NO_VALUE] = levels;
  return levels.length > 1 ? `${least}-${levels.at(-1)}` : least;
}

/** Zero means unknown, or part of a plan. */
function dollars(price: number): string {
  if (price === 0) return NO_VALUE;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 3, useGrouping: false };
  return price.toLocaleString('en', digits);
}
