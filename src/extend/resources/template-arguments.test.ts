// biome-ignore-all lint/suspicious/noTemplateCurlyInString: prompt templates are full of them
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillTemplate, MAX_FILLED_LENGTH, splitArguments } from './template-arguments.ts';

it.each([
  ['', []],
  ['  ', []],
  ['a', ['a']],
  [' a  b\tc\nd ', ['a', 'b', 'c', 'd']],
  ['a.ts "b c" d', ['a.ts', 'b c', 'd']],
  [`'b c' "d 'e' f" 'g "h" i'`, ['b c', "d 'e' f", 'g "h" i']],
  ['a"b c"d', ['ab cd']],
  ['"" b', ['', 'b']],
  ['a "open end', ['a', 'open end']],
  ['back\\"slash', ['back\\slash']],
])('%j splits into %j', (text, words) => {
  expect(splitArguments(text)).toEqual(words);
});

it('quoted arguments are unchanged', () => {
  const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('"'));
  fc.assert(
    fc.property(fc.array(word), (words) => {
      expect(splitArguments(words.map((text) => `"${text}"`).join(' '))).toEqual(words);
    }),
  );
});

const args = ['a.ts', 'b c', 'd', '4', '5', '6', '7', '8', '9', 'ten', 'eleven'];

it.each([
  ['$1 and $2', 'a.ts and b c'],
  ['$10$11', 'teneleven'],
  ['$12|$0|$99999999999999999999', '||'],
  ['$@', args.join(' ')],
  ['$ARGUMENTS', args.join(' ')],
  ['${@:2}', args.slice(1).join(' ')],
  ['${@:2:3}', 'b c d 4'],
  ['${@:0:1}|${@:1:0}|${@:12}', 'a.ts||'],
  ['${3:-other}|${12:-other}|${12:-}', 'd|other|'],
  ['${@:-nothing}', args.join(' ')],
  ['$$1', '$a.ts'],
  ['$x ${x} ${1} $ {@} ${@:x} ${1:-', '$x ${x} ${1} $ {@} ${@:x} ${1:-'],
  ['costs ${12:-$1}', 'costs $1'],
])('[N25] %j is filled with arguments', (template, filled) => {
  expect(fillTemplate(template, args)).toBe(filled);
});

it.each([
  ['$1|$@|$ARGUMENTS|${@:1}', '|||'],
  ['${1:-one} ${@:-all of it}', 'one all of it'],
])('[N25] %j is filled without arguments', (template, filled) => {
  expect(fillTemplate(template, [])).toBe(filled);
});

it('an empty argument counts as missing for a default', () => {
  expect(fillTemplate('${1:-one} ${2:-two} ${@:-all}', ['', 'b'])).toBe('one b  b');
});

const slot = fc.constantFrom(
  '$1',
  '$2',
  '$10',
  '$@',
  '$ARGUMENTS',
  '${@:2}',
  '${@:1:2}',
  '${1:-x}',
  '${@:-x}',
  '$&',
  '$$',
);

it('inserted arguments are never expanded again', () => {
  fc.assert(
    fc.property(fc.array(slot), fc.array(fc.oneof(slot, fc.string()), { maxLength: 4 }), (slots, words) => {
      const marks = words.map((_word, index) => `\u0000${index}\u0000`);
      const nonEmpty = words.map((word) => word || 'x');
      const template = slots.join('|');

      const filled = fillTemplate(template, marks).replaceAll(
        /\0(\d)\0/g,
        (_mark, index) => nonEmpty[Number(index)] ?? '',
      );

      expect(fillTemplate(template, nonEmpty)).toBe(filled);
    }),
  );
});

it('a template without placeholders is unchanged', () => {
  const plain = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('$'));
  fc.assert(
    fc.property(plain, fc.array(fc.string()), (template, words) => {
      expect(fillTemplate(template, words)).toBe(template);
    }),
  );
});

it('a result that is too long is rejected before it is built', () => {
  const word = 'x'.repeat(MAX_FILLED_LENGTH / 2);

  expect(fillTemplate('$1$1', [word])).toHaveLength(MAX_FILLED_LENGTH);
  expect(() => fillTemplate('$1$1$2', [word, 'y'])).toThrow(`it has more than ${MAX_FILLED_LENGTH} characters`);
  expect(() => fillTemplate('$1'.repeat(100_000), [word])).toThrow('it has more than');
});
