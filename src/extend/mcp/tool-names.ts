/** What every provider takes: letters, digits, `_` and `-`, and no more than this. */
const MAX_TOOL_NAME_LENGTH = 64;

/** The name by which a model knows a tool of a server. One that is taken gets a number behind it. */
export function toolName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const plain = `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z_]/, '_$&');
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = plain.slice(0, MAX_TOOL_NAME_LENGTH - suffix.length) + suffix;
    if (!isTaken(name)) return name;
  }
}
