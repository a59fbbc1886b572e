// Counts words that the glossary of ARCHITECTURE.md replaces.
import { filesBelow, handWrittenFiles, isTest, pages, read } from './source-tree.mjs';

/** A comment that opens with a riddle instead of naming its subject. */
const VAGUE_OPENING = /^\s*(?:\/\*\*?|\/\/|\*)\s+(?:What|Whoever|Something|One|Nobody|Somebody|Everybody)\b/;
const VAGUE_PERSON = /\b(?:somebody|whoever|nobody|everybody)\b/i;
/** `nobody` is a value of `extension_ui_resolved` on the wire; other quoted values are test data. */
const QUOTED_PERSON = /(['"`])(?:[\w ]+ )?(?:somebody|whoever|nobody|everybody)\1/gi;
const SPEECH_WORDS = new Set([
  'told',
  'retold',
  'untold',
  'heard',
  'unheard',
  'overheard',
  'said',
  'unsaid',
  'wish',
  'wishes',
  'wished',
]);

/** Every place where a word of the old vocabulary stands, by kind. */
export function countVocabulary() {
  return {
    vagueOpenings: handWrittenFiles().flatMap((path) =>
      linesOf(path)
        .filter(({ text, isBlock }) => VAGUE_OPENING.test(text) && (!/^\s*\*/.test(text) || isBlock))
        .map(({ at }) => at),
    ),
    vaguePersons: [...personsInSource(), ...personsInTitles(), ...personsInPages()],
    speechIdentifiers: handWrittenFiles()
      .filter((path) => /\.(tsx?|mjs|js)$/.test(path) && path !== 'scripts/tidy/vocabulary.mjs')
      .flatMap(speechIdentifiers),
  };
}

/** Lines with their place; `isBlock` marks the first text line of a block comment whose opening stands alone. */
function linesOf(path) {
  const lines = read(path).split('\n');
  return lines.map((text, index) => ({
    text,
    at: `${path}:${index + 1}`,
    isBlock: /^\s*\/\*\*?\s*$/.test(lines[index - 1] ?? ''),
  }));
}

const hasPerson = ({ text }) => VAGUE_PERSON.test(text.replace(QUOTED_PERSON, ''));

const personsInSource = () =>
  filesBelow('src', /\.(tsx?|css)$/)
    .filter((path) => !isTest(path) && !path.includes('/generated/'))
    .flatMap((path) =>
      linesOf(path)
        .filter(hasPerson)
        .map(({ at }) => at),
    );

const TITLE = /\b(?:it|test|describe|verifies|each)\b.*?(['"`])(.*)\1/;

const personsInTitles = () =>
  [...filesBelow('test', /\.tsx?$/), ...filesBelow('src', /\.test\.tsx?$/)].flatMap((path) =>
    linesOf(path)
      .filter(({ text }) => VAGUE_PERSON.test(TITLE.exec(text)?.[2] ?? ''))
      .map(({ at }) => at),
  );

const personsInPages = () =>
  pages().flatMap((path) =>
    linesOf(path)
      .filter(hasPerson)
      .map(({ at }) => at),
  );

/** Names in code, without comments and without the text of strings. */
function speechIdentifiers(path) {
  return codeOf(read(path))
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(/[A-Za-z_$][\w$]*/g)]
        .filter(([name]) => wordsOf(name).some((word) => SPEECH_WORDS.has(word)))
        .map(([name]) => `${path}:${index + 1}: ${name}`),
    );
}

/** Replaces comments and the text of strings by blanks; expressions inside templates stay. */
function codeOf(text) {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`|\$\{|[{}]/g;
  const templates = [];
  let code = '';
  let at = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const inTemplate = templates.at(-1) === 'text';
    const [found] = match;
    code += inTemplate ? blank(text.slice(at, match.index)) : text.slice(at, match.index);
    at = match.index + found.length;
    if (found === '`') inTemplate ? templates.pop() : templates.push('text');
    else if (inTemplate && found === '${') templates.push('code');
    else if (!inTemplate && found === '{') templates.push('code');
    else if (!inTemplate && found === '}') templates.pop();
    code += found.length > 2 || inTemplate ? blank(found) : found;
  }
  return code + text.slice(at);
}

const blank = (text) => text.replace(/[^\n]/g, ' ');

const wordsOf = (name) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_$]+/);
