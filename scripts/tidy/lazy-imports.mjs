// Every lazy import of src, by the reason why its code is not loaded with the file that imports it. A lazy import makes
// a function asynchronous and hides a dependency: only start-up time pays for that.
import { dirname, join, normalize } from 'node:path';
import { read, sourceFiles } from './source-tree.mjs';

const LAZY_IMPORTS = {
  'A command of the program loads its own code only.': {
    'cli/main.ts': ['cli/help/help.ts', 'cli/print/print.ts', 'cli/run-command.ts'],
    'cli/commands.ts': [
      'cli/attach/attach.ts',
      'cli/auth/auth.ts',
      'cli/auth/login.ts',
      'cli/cluster/cluster.ts',
      'cli/completion/completion.ts',
      'cli/doctor.ts',
      'cli/help/help.ts',
      'cli/local-chat.ts',
      'cli/serve/serve.ts',
      'cli/mcp.ts',
      'cli/approvals.ts',
      'cli/sessions/export.ts',
      'cli/sessions/sessions.ts',
      'cli/shim/shim.ts',
      'cli/token/token.ts',
    ],
    'cli/mcp.ts': ['extend/mcp/oauth/sign-in.ts'],
    'cli/run-command.ts': ['cli/print/print.ts', 'cli/sessions/export.ts'],
    'cli/sessions/sessions.ts': ['cli/sessions/export.ts'],
  },
  'A flag that most starts do not have.': {
    'cli/lifetime.ts': ['system/log.ts'],
    'cli/engine-options.ts': ['model/scripted/script.ts'],
    'cli/rpc.ts': ['cli/socket.ts', 'node:v8'],
    'cli/sessions/session-argument.ts': ['cli/sessions/choose-session.ts'],
    'cli/token/token.ts': ['server/cluster/auth/cluster-tokens.ts'],
    'embed/local-engine.ts': ['model/scripted/script.ts'],
    'cli/serve/serve.ts': ['system/sandbox/probe.ts'],
    'engine/open.ts': ['engine/activity-log.ts'],
    'engine/approvals/current-approvals.ts': ['engine/approvals/open-approvals.ts'],
    'engine/approvals/policy.ts': ['store/approvals/approval-settings.ts'],
    'server/serve.ts': ['server/cluster/open-cluster.ts'],
  },
  'A tool of the agent loads at its first call.': {
    'agent/tools/bash/bash.ts': ['agent/tools/bash/run-command.ts'],
    'agent/tools/edit/edit.ts': ['agent/tools/edit/edit-file.ts'],
    'agent/tools/edit/write.ts': ['agent/tools/edit/write-file.ts'],
    'agent/tools/read/read.ts': ['agent/tools/read/read-file.ts'],
    'agent/tools/search/find.ts': ['agent/tools/search/find-paths.ts'],
    'agent/tools/search/grep.ts': ['agent/tools/search/grep-files.ts'],
    'agent/tools/search/ls.ts': ['agent/tools/search/ls-folder.ts'],
  },
  'A command of a client loads at its first use.': {
    'engine/commands/models.ts': ['engine/models/login.ts', 'store/credentials.ts'],
    'engine/commands/sessions.ts': [
      'agent/tools/search/find-paths.ts',
      'engine/commands/builtin-commands.ts',
      'engine/session-switch.ts',
      'session/context/message-page.ts',
      'store/sessions/export/export-session.ts',
    ],
    'engine/commands/slash-commands.ts': ['engine/commands/builtin-commands.ts'],
    'engine/agent.ts': ['engine/diagnosis/preflight.ts'],
    'engine/open.ts': ['store/credentials.ts', 'store/sessions/listing/list-sessions.ts'],
    'session/idle-tasks.ts': ['session/navigate.ts'],
    'session/shell-commands.ts': ['agent/tools/bash/shell.ts'],
    'store/sessions/session-file.ts': ['store/sessions/fork.ts'],
    'store/sessions/session-log.ts': ['store/sessions/fork.ts'],
  },
  'A call whose access to files is limited.': {
    'agent/tools/edit/edit-file.ts': ['agent/tools/guarded-files.ts'],
    'agent/tools/edit/write-file.ts': ['agent/tools/guarded-files.ts'],
    'agent/tools/read/read-file.ts': ['agent/tools/guarded-files.ts'],
    'agent/tools/search/find-paths.ts': ['agent/tools/guarded-files.ts'],
    'agent/tools/search/grep-files.ts': ['agent/tools/guarded-files.ts'],
    'agent/tools/search/ls-folder.ts': ['agent/tools/guarded-files.ts'],
  },
  'A step that most runs do not reach.': {
    'engine/open.ts': ['system/processes/process-group.ts'],
    'session/compaction/compactor.ts': ['session/compaction/compaction.ts'],
    'session/run/recovery.ts': ['session/run/retry.ts'],
    'model/keys/sign-in.ts': ['model/sign-in/flows.ts'],
    'store/config-value.ts': ['system/processes/capture.ts'],
    'store/credential-command.ts': ['system/processes/capture.ts'],
    'system/files/lock.ts': ['system/files/lock-file.ts'],
  },
  'An agent without add-ons loads none of their code; one with add-ons loads those that exist.': {
    'engine/addons/lazy-addons.ts': ['engine/addons/addons.ts'],
    'engine/addons/addons.ts': [
      'engine/addons/load-extensions.ts',
      'extend/mcp/mcp-servers.ts',
      'extend/todos/todos.ts',
    ],
    'extend/extensions/api/exec.ts': ['system/processes/run-program.ts'],
    'extend/extensions/api/bash-backend.ts': ['agent/tools/bash/command-output.ts'],
    'extend/extensions/pi-shims/ai/model-calls.ts': ['model/scripted/player.ts'],
    'extend/extensions/pi-shims/coding-agent/bash-tool.ts': [
      'agent/tools/bash/run-command.ts',
      'agent/tools/bash/shell.ts',
    ],
    'extend/extensions/pi-shims/coding-agent/file-tools.ts': [
      'agent/tools/edit/edit-diff.ts',
      'agent/tools/edit/edit-text.ts',
      'agent/tools/read/read-file.ts',
    ],
    'embed/sdk/extension-sdk.ts': ['embed/sdk/sdk-names.ts'],
    'extend/extensions/pi-shims/pi-shims.ts': [
      'extend/extensions/pi-shims/coding-agent/diffs.ts',
      'extend/extensions/pi-shims/coding-agent/frontmatter.ts',
      'extend/extensions/pi-shims/coding-agent/skills.ts',
      'extend/extensions/pi-shims/coding-agent/summaries.ts',
      'extend/extensions/pi-shims/pi-agent-core.ts',
      'extend/extensions/pi-shims/pi-ai.ts',
      'extend/extensions/pi-shims/pi-coding-agent.ts',
      'extend/extensions/pi-shims/pi-tui.ts',
      'extend/extensions/pi-shims/typebox-compile.ts',
      'extend/extensions/pi-shims/typebox-value.ts',
      'extend/extensions/pi-shims/typebox.ts',
    ],
  },
  'A model loads the code of its own provider at its first call.': {
    'model/providers/api-adapters.ts': [
      'model/providers/ai-sdk/adapter.ts',
      'model/providers/anthropic/adapter.ts',
      'model/providers/azure/adapter.ts',
      'model/providers/bedrock/adapter.ts',
      'model/providers/completions/adapter.ts',
      'model/providers/google/adapter.ts',
      'model/providers/mistral/adapter.ts',
      'model/providers/responses/adapter.ts',
      'model/providers/vertex/adapter.ts',
    ],
    'model/registry/match-model.ts': ['model/registry/model-pattern.ts'],
    'model/registry/served-windows.ts': ['model/local-servers/ollama.ts'],
    'model/registry/registry.ts': [
      'model/local-servers/discovery.ts',
      'model/providers/extension-stream/adapter.ts',
      'model/registry/loaded-models.ts',
      'model/registry/model-pattern.ts',
      'model/scripted/player.ts',
    ],
  },
  'A large package, or a module of Node that takes milliseconds to load.': {
    'agent/tools/edit/write-file.ts': ['agent/tools/edit/edit-diff.ts'],
    'agent/tools/read/image.ts': ['sharp'],
    'agent/tools/search/ripgrep.ts': ['@vscode/ripgrep'],
    'extend/argument-check.ts': ['typebox/schema'],
    'extend/mcp/server.ts': [
      'extend/mcp/connection.ts',
      'extend/mcp/oauth/server-auth.ts',
      'extend/mcp/oauth/sign-in.ts',
    ],
    'extend/mcp/transport/opening-attempts.ts': [
      'extend/mcp/transport/http-transport.ts',
      'extend/mcp/transport/sse-transport.ts',
    ],
    'extend/stream-rules/stream-rules.ts': ['extend/stream-rules/rule.ts'],
    'model/http/post.ts': ['model/http/proxy.ts'],
    'model/http/response.ts': ['node:zlib'],
    'server/http/page-files.ts': ['node:zlib'],
  },
  'The page loads a sheet when it opens, and the highlighter with the first code.': {
    'web/code/use-tokens.ts': ['web/code/grammars.ts'],
    'web/page/overlay/sheets.tsx': [
      'web/page/controls/pickers/approvals-sheet.tsx',
      'web/page/controls/pickers/models-sheet.tsx',
      'web/page/controls/pickers/thinking-sheet.tsx',
      'web/page/controls/shortcuts/shortcuts-sheet.tsx',
      'web/page/folders/folder-sheet.tsx',
      'web/page/welcome/key-form.tsx',
    ],
    'web/page/page.tsx': ['web/page/sessions/delete-dialog.tsx'],
  },
  'The page loads the composer before the conversation, and requests the login meanwhile.': {
    'web/page/main.ts': ['web/page/page.tsx'],
    'web/page/page.tsx': ['web/page/session-parts.ts'],
    'web/page/status/dialogs/dialogs.tsx': ['web/page/session-parts.ts'],
  },
};

/** Compares the lazy imports of src with the list above. */
export function checkLazyImports() {
  const listed = new Set(
    Object.values(LAZY_IMPORTS).flatMap((group) =>
      Object.entries(group).flatMap(([file, targets]) => targets.map((target) => `${file} -> ${target}`)),
    ),
  );
  const found = new Set(sourceFiles().flatMap(lazyImportsOf));
  const list = 'scripts/tidy/lazy-imports.mjs';
  return [
    ...[...found]
      .filter((one) => !listed.has(one))
      .map((one) => `src/${one}: a lazy import that ${list} does not list`),
    ...[...listed].filter((one) => !found.has(one)).map((one) => `${list}: lists ${one}, which is no lazy import`),
  ];
}

function lazyImportsOf(path) {
  const file = path.slice('src/'.length);
  return [...read(path).matchAll(/\bimport\(\s*'([^']+)'/g)].map(([, specifier]) => {
    const target = specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier;
    return `${file} -> ${target}`;
  });
}
