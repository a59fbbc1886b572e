const BUILTIN_MOVE = /^\/(new|fork[ \t]+(\S+))\s*$/;

/** Parses `/new` or `/fork <entry>`, the built-in slash commands that move to another session. */
export function parseBuiltinMove(message: string): { readonly entryId: string | undefined } | undefined {
  const match = BUILTIN_MOVE.exec(message);
  return match ? { entryId: match[2] } : undefined;
}
