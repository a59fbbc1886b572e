import { expect, it } from 'vitest';
import { terminalText, visibleText } from './terminal-text.ts';

it('text with line ends, tabs, accents, wide characters and emoji stays as it is', () => {
  const text = 'a b\n\tcafé – 東京 🐚 "x" \\u{1b}';

  expect([visibleText(text), terminalText(text)]).toEqual([text, text]);
});

it('visible text has no control, no invisible sign and no space but the plain one', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const shown = visibleText(`a${String.fromCodePoint(code)}b`);
    if (/^a\P{M}b$/u.test(shown) && !/^a(?:[\n\t ]|[\p{L}\p{N}\p{P}\p{S}])b$/u.test(shown))
      throw new Error(`U+${code.toString(16)} is not visible`);
  }
  expect(visibleText('\u0000\u007F\u0085\u200D\u2066\uFEFF\uFE0F\u3164\u00AD\u2800')).toBe(
    String.raw`\u{0}\u{7f}\u{85}\u{200d}\u{2066}\u{feff}\u{fe0f}\u{3164}\u{ad}\u{2800}`,
  );
});
