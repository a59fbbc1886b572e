// The limit that every provider accepts.
const MAX_TOOL_NAME_LENGTH = 64;

/** The name under which a model calls a server's tool. A taken name gets a number. */
export function toolName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const plain = `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z_]/, '_$&');
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = plain.slice(0, MAX_TOOL_NAME_LENGTH - suffix.length) + suffix;
    if (!isTaken(name)) return name;
  }
}
