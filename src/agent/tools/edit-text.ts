import { lookalike, looseForm, type MatchForm, plainForm, withPlainBreaks } from './match-form.ts';

const BOM = '\uFEFF';

/** One replacement: a text that stands in the file exactly once, and what is to stand there. */
export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

/** Where an edit was found. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * A text with all edits made, or an error that tells the model what is wrong with them.
 *
 * Every edit is looked for in the text as it was. What lies outside of the places found stays, character for character.
 */
export function editText(content: string, edits: readonly Edit[], path: string): string {
  if (edits.length === 0) throw new Error('Edit tool input is invalid. edits must contain at least one replacement.');
  const names = edits.map((_edit, index) => (edits.length === 1 ? undefined : `edits[${index}]`));
  for (const [index, { oldText }] of edits.entries()) {
    const field = names[index] === undefined ? 'oldText' : `${names[index]}.oldText`;
    if (oldText === '') throw new Error(`${field} must not be empty in ${path}.`);
  }
  const bom = content.startsWith(BOM) ? BOM : '';
  const text = content.slice(bom.length);
  const forms = { plain: plainForm(text), loose: looseForm(text) };
  const places = edits.map(({ oldText }, index) => find(forms, withPlainBreaks(oldText), { name: names[index], path }));
  const edited = bom + replaced(text, inOrder(edits, places, path));
  if (edited !== content) return edited;
  const subject = edits.length === 1 ? 'replacement' : 'replacements';
  throw new Error(`No changes made to ${path}. The ${subject} produced identical content.`);
}

/** The one place of a text: where it stands exactly, else where something stands that looks the same. */
function find(forms: Forms, oldText: string, { name, path }: { name: string | undefined; path: string }): Place {
  const exact = placesOf(forms.plain, oldText);
  const alike = placesAlike(forms.loose, oldText);
  const count = Math.max(exact.length, alike.length);
  const [place] = exact.length > 0 ? exact : alike;
  if (!place) {
    throw new Error(
      `Could not find ${name ?? 'the exact text'} in ${path}. The old text must match exactly including all whitespace and newlines.`,
    );
  }
  if (count === 1) return place;
  throw new Error(
    `Found ${count} occurrences of ${name ?? 'the text'} in ${path}. The text must be unique. Please provide more context to make it unique.`,
  );
}

interface Forms {
  readonly plain: MatchForm;
  readonly loose: MatchForm;
}

/** Blanks at the end of what is looked for stand for blanks, or for the end of a line. */
function placesAlike(loose: MatchForm, oldText: string): Place[] {
  const lines = oldText.split('\n').map(lookalike);
  const last = lines.at(-1) ?? '';
  const above = lines
    .slice(0, -1)
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
  const places = placesOf(loose, above + last);
  const trimmed = above + last.trimEnd();
  if (last === last.trimEnd() || trimmed === '') return places;
  return [...places, ...placesOf(loose, trimmed, (next) => next === '' || next === '\n')];
}

function placesOf({ text, origin }: MatchForm, wanted: string, mayFollow = (_next: string) => true): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    const [start, end] = [origin(at), origin(at + wanted.length)];
    if (start === undefined || end === undefined || !mayFollow(text.charAt(at + wanted.length))) continue;
    places.push({ start, end });
  }
  return places;
}

/** The places from the first to the last, each with what is to stand there. */
function inOrder(edits: readonly Edit[], places: readonly Place[], path: string) {
  const ordered = places
    .map((place, index) => ({ ...place, index, newText: edits[index]?.newText ?? '' }))
    .sort((a, b) => a.start - b.start);
  for (const [at, { start, index }] of ordered.entries()) {
    const before = ordered[at - 1];
    if (!before || before.end <= start) continue;
    throw new Error(
      `edits[${before.index}] and edits[${index}] overlap in ${path}. Merge them into one edit or target disjoint regions.`,
    );
  }
  return ordered;
}

/** New lines end as the first line of the text does. */
function replaced(text: string, places: readonly (Place & { newText: string })[]): string {
  const lineBreak = /\r?\n/.exec(text)?.[0] ?? '\n';
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, newText } of places) {
    parts.push(text.slice(from, start), withPlainBreaks(newText).replaceAll('\n', lineBreak));
    from = end;
  }
  return [...parts, text.slice(from)].join('');
}
