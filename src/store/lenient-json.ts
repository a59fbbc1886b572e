/** Parses JSON with comments and trailing commas. */
export function parseLenient(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const plain = text.replace(comments, blankUnlessString).replace(trailingCommas, blankUnlessString);
    return JSON.parse(plain);
  }
}

// Unterminated strings and comments match too: a failed match would be retried at every character.
const comments = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const trailingCommas = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|,(?=\s*[}\]])/g;

/** Everything keeps its position, so that the parser reports the right one. */
const blankUnlessString = (found: string) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '));
