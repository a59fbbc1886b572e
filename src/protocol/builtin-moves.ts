/** `/new` and `/fork <entry>`: the built-in slash commands that go to another session. */
const BUILTIN_MOVE = /^\/(new|fork[ \t]+(\S+))\s*$/;

/** Where a message goes that is one of those: to a new session, or to a fork before an entry. */
export function parseBuiltinMove(message: string): { readonly entryId: string | undefined } | undefined {
  const match = BUILTIN_MOVE.exec(message);
  return match ? { entryId: match[2] } : undefined;
}
