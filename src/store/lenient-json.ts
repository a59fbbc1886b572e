/** JSON in which people may write comments, and leave a comma behind the last item. */
export function parseLenient(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const plain = text.replace(comments, blankUnlessString).replace(trailingCommas, blankUnlessString);
    return JSON.parse(plain);
  }
}

// A string or a comment that never ends matches too: a search that failed there would begin again at every sign.
const comments = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const trailingCommas = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|,(?=\s*[}\]])/g;

/** Everything keeps its place, so that the parser names the right one. */
const blankUnlessString = (found: string) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '));
