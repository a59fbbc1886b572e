/** Limit of a filled template in characters. */
export const MAX_FILLED_LENGTH = 8 * 1024 * 1024;

/** Splits arguments at blanks. Quotes of either kind group words; there is no escape for a quote. */
export function splitArguments(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  const end = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  for (const character of text) {
    if (quote === undefined && /\s/.test(character)) end();
    else if (character === quote) quote = undefined;
    else if (quote === undefined && /["']/.test(character)) {
      quote = character;
      word ??= '';
    } else word = (word ?? '') + character;
  }
  end();
  return words;
}

const PLACEHOLDER =
  /\$(?:(?<number>\d+)|@|ARGUMENTS|\{@:(?<from>\d+)(?::(?<count>\d+))?\}|\{(?<tried>\d+|@):-(?<otherwise>[^}]*)\})/g;

/** Fills `$1`, `$@`, `$ARGUMENTS`, `${@:2}`, `${@:2:3}`, `${1:-default}` and `${@:-default}` once. Throws if it gets too long. */
export function fillTemplate(template: string, args: readonly string[]): string {
  let filled = '';
  let end = 0;
  for (const { 0: placeholder, index, groups = {} } of template.matchAll(PLACEHOLDER)) {
    filled += template.slice(end, index) + valueFor(groups, args);
    end = index + placeholder.length;
    if (filled.length > MAX_FILLED_LENGTH)
      throw new Error(`Filled in, it has more than ${MAX_FILLED_LENGTH} characters`);
  }
  return filled + template.slice(end);
}

function valueFor(placeholder: Readonly<Record<string, string | undefined>>, args: readonly string[]): string {
  const { number, from, count, tried, otherwise = '' } = placeholder;
  const nth = (which: string) => args[Number(which) - 1] ?? '';
  if (number !== undefined) return nth(number);
  if (tried !== undefined) return (tried === '@' ? args.join(' ') : nth(tried)) || otherwise;
  const start = Math.max(Number(from ?? 1) - 1, 0);
  return args.slice(start, count === undefined ? undefined : start + Number(count)).join(' ');
}
