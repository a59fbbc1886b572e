// The command that a text invokes as `/name` or `/name arguments`.
export function findInvokedCommand<T extends { readonly name: string }>(
  text: string,
  commands: readonly T[],
): { command: T; args: string } | undefined {
  const matches = commands.filter(
    ({ name }) => text.startsWith(name, 1) && /^(?:$|\s)/.test(text.slice(name.length + 1)),
  );
  // Names may contain blanks, so the longest match counts.
  const [command] = matches.sort((a, b) => b.name.length - a.name.length);
  return command && { command, args: text.slice(command.name.length + 1).trim() };
}
