/** Writes a script whose every prompt makes this call once, or as often as given, and returns its path. */
export function callScript(workspace, name, { tool, args, times = 1 }) {
  const steps = Array.from({ length: times }, () => ({ toolCall: { name: tool, arguments: args } }));
  const lines = [{ steps }, { text: 'ok' }, { repeat: true }];
  return workspace.file(`${name}.jsonl`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Writes settings into an agent folder of their own and returns the variable that names it. */
export function settingsFolder(workspace, name, settings) {
  const path = workspace.folder(`agent-${name}`);
  workspace.file(`agent-${name}/settings.json`, JSON.stringify({ compaction: { enabled: false }, ...settings }));
  return { PI_CODING_AGENT_DIR: path };
}
