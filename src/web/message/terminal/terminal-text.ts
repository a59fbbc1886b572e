const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
/** What programs send to a terminal to colour, move and name things. */
const ESCAPES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|[@-Z\\\\-_])`, 'g');

/** What a terminal would show in the end; empty when a command said nothing. */
export function terminalText(text: string): string {
  const plain = text.replaceAll(ESCAPES, '').split('\n').map(lastWritten).join('\n').trimEnd();
  return plain === '(no output)' ? '' : plain;
}

/** What is left of a line that was written over, as progress bars are. */
function lastWritten(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

const LAST_LINE =
  /(?:^|\n+)(?:Command (?:exited with code (-?\d+)|(timed out) after [\d.]+ seconds|was (killed by \w+))|(?:Command|Operation|(?:Th\w+ operation|Host tool ".*") was) aborted)\s*$/;

/** What a tool said that did not come to a good end, and how it ended by the last line; `stopped` when somebody wanted that. */
export function ended(text: string): { readonly said: string; readonly how: string | undefined } {
  const tail = text.slice(-200);
  const found = LAST_LINE.exec(tail);
  if (!found) return { said: text, how: undefined };
  const [, code, late, killed] = found;
  const how = code === undefined ? (late ?? killed ?? 'stopped') : `exit ${code}`;
  return { said: text.slice(0, text.length - tail.length + found.index), how };
}
