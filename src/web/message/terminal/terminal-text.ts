const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
// Escape sequences for colours, cursor moves and titles.
const ESCAPES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|[@-Z\\\\-_])`, 'g');

/** The text that a terminal shows in the end; empty for a command without output. */
export function terminalText(text: string): string {
  const plain = text.replaceAll(ESCAPES, '').split('\n').map(withoutOverwritten).join('\n').trimEnd();
  return plain === '(no output)' ? '' : plain;
}

/** Carriage returns overwrite a line, as progress bars do. */
function withoutOverwritten(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

const ENDING =
  /(?:^|\n+)(?:Command (?:exited with code (-?\d+)|(timed out) after [\d.]+ seconds|was (killed by \w+))|(?:Command|Operation|(?:Th\w+ operation|Host tool ".*") was) aborted)\s*$/;

/** Splits the last line of a failed tool off its output and names the ending: `exit 2`, `timed out`, `stopped`. */
export function splitEnding(text: string): { readonly output: string; readonly ending: string | undefined } {
  const tail = text.slice(-200);
  const found = ENDING.exec(tail);
  if (!found) return { output: text, ending: undefined };
  const [, code, late, killed] = found;
  const ending = code === undefined ? (late ?? killed ?? 'stopped') : `exit ${code}`;
  return { output: text.slice(0, text.length - tail.length + found.index), ending };
}
