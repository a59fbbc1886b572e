import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { CommandName, Params } from '../../protocol/generated/vocabulary.ts';
import { parseBuiltinCall } from '../../protocol/slash-commands.ts';
import { AgentResponse } from '../agent-response.ts';
import { isWithinLimit, limitOf } from '../auth/approval-rights.ts';
import { mayOpen, permissionDenied, permits } from '../auth/grant.ts';
import type { CommandRequest } from '../sessions.ts';
import type { Client } from './client.ts';
import { hello } from './hello.ts';
import { builtinMoveRequest, moveClient, runBuiltinMove } from './session-moves.ts';

type OnResponse = (response: AgentResponse) => void;

/** Handles a command in the server, in whole or in part, instead of the agent. */
export type ServerCommandHandler<P = unknown> = (
  request: CommandRequest & P,
  client: Client,
  onResponse: OnResponse,
) => void | Promise<void>;

/** Handlers of commands whose meaning changes when clients share an agent, or that concern other sessions. */
export const serverCommands: { readonly [C in CommandName]?: ServerCommandHandler<Params<C>> } = {
  ping: ({ type }, _client, onResponse) => onResponse(AgentResponse.success(type)),

  hello,

  prompt: (request, client, onResponse) => {
    const prompt = { builtins: client.builtins, ...request };
    checkBuiltin(prompt, client);
    const builtin = prompt.builtins ? builtinMoveRequest(prompt.message) : undefined;
    return builtin ? runBuiltinMove(builtin, { prompt, client, onResponse }) : client.handle.send(prompt, onResponse);
  },

  abort_and_prompt: async (request, client, onResponse) => {
    const prompt = { builtins: client.builtins, ...request };
    const builtin = prompt.builtins ? builtinMoveRequest(prompt.message) : undefined;
    checkBuiltin(prompt, client);
    if (!builtin) return client.handle.send(prompt, onResponse);
    await client.exclusively(() => new Promise((resolve) => client.handle.send({ type: 'abort' }, () => resolve())));
    return runBuiltinMove(builtin, { prompt, client, onResponse });
  },

  edit_queued: (request, client, onResponse) => {
    // A message that was queued at the start may still run as a built-in command.
    checkBuiltin({ builtins: true, message: request.message }, client);
    client.handle.send(request, onResponse);
  },

  get_commands: (request, client, onResponse) =>
    client.handle.send({ builtins: client.builtins, ...request }, onResponse),

  new_session: (request, client, onResponse) => {
    const { parentSession } = request;
    const { catalog } = client.services;
    // A client may name only a parent session that it may see.
    if (parentSession !== undefined && client.identity.grant.allowedPaths) {
      catalog.at(parentSession, client.identity.grant, client.handle.cwd);
    }
    return moveClient(request, client, onResponse);
  },

  switch_session: (request, client, onResponse) => {
    const target = client.services.catalog.at(request.sessionPath, client.identity.grant, client.handle.cwd);
    return moveClient(request, client, onResponse, target);
  },

  fork: moveClient,
  branch: moveClient,
  clone: moveClient,

  set_host_tools: (request, client, onResponse) =>
    client.handle.send(request, (response) => {
      if (response.success) client.hostTools = request.tools;
      onResponse(response);
    }),

  set_approval_mode: (request, client, onResponse) => {
    const { mode } = request;
    if (mode !== undefined && !isWithinLimit(mode, limitOf(client.identity.grant)))
      throw new Refusal('permission_denied', `Permission denied: ${mode} is beyond the limit of this token`);
    client.handle.send(request, onResponse);
  },

  list_sessions: async (request, client, onResponse) => {
    const { services, identity } = client;
    const page = await services.catalog.list(request, identity.grant, () => !client.isClosed);
    onResponse(AgentResponse.success(request.type, page));
  },

  delete_session: (request, client, onResponse) =>
    client.exclusively(async () => {
      const { catalog, sessions, library } = client.services;
      const target = catalog.at(request.sessionPath, client.identity.grant, client.handle.cwd);
      // The agent itself refuses to delete its own session.
      if (target.id !== client.sessionId && !(await sessions.release(target, request.stop))) {
        throw new Refusal('session_in_use', `Session is in use by other clients: ${request.sessionPath}`);
      }
      if (library && target.id !== client.sessionId)
        onResponse(AgentResponse.success(request.type, { trashPath: await library.trash(target) }));
      else client.handle.send(request, onResponse);
    }),

  restore_session: (request, client, onResponse) =>
    client.exclusively(async () => {
      const { catalog, library } = client.services;
      if (library) {
        const target = library.inTrash(request.trashPath);
        if (!target || !mayOpen(client.identity.grant, target.cwd))
          throw new Refusal('session_not_found', `Session not found: ${request.trashPath}`);
        onResponse(AgentResponse.success(request.type, { sessionPath: await library.restore(target) }));
        return;
      }
      catalog.expect(catalog.at(request.trashPath, client.identity.grant, client.handle.cwd).id);
      client.handle.send(request, onResponse);
    }),

  rename_session: (request, client, onResponse) =>
    client.exclusively(async () => {
      const { catalog, sessions, library } = client.services;
      const { type, sessionPath, name } = request;
      const target = catalog.at(sessionPath, client.identity.grant, client.handle.cwd);
      const isHere = target.id === client.sessionId;
      // Only the agent of a session may append to its log.
      const options = { startsAgent: library !== undefined };
      const rename: CommandRequest = { type: 'set_session_name', name };
      const response = isHere ? undefined : await sessions.request(target, rename, options);
      if (!response) client.handle.send(request, onResponse);
      else
        onResponse(
          response.success ? AgentResponse.success(type) : AgentResponse.from({ ...response.record(), command: type }),
        );
    }),

  export_html: (request, client, onResponse) => {
    const { exports } = client.services;
    const { outputPath } = request;
    const path = outputPath === undefined ? exports.newPath() : allowedOutput(outputPath, client);
    const offer = (): AgentResponse => {
      try {
        const url = exports.offer(realpathSync(path), client.identity.grant);
        return AgentResponse.success(request.type, { path, url });
      } catch (error) {
        return AgentResponse.refusal(request.type, Refusal.from(error));
      }
    };
    client.handle.send({ ...request, outputPath: path }, (response) =>
      onResponse(response.success ? offer() : response),
    );
  },
};

/** The absolute path for an export, if the grant allows it. */
function allowedOutput(outputPath: string, { handle, identity }: Client): string {
  const path = resolve(handle.cwd, outputPath);
  // A client with a limit gets the page from the server instead: its runs may not be allowed to write files.
  if (limitOf(identity.grant) === undefined && mayOpen(identity.grant, path)) return path;
  throw new Refusal('permission_denied', `Permission denied: ${outputPath}`);
}

/** Rejects a built-in command that would be rejected as a command of its own. */
function checkBuiltin({ builtins, message }: Pick<Params<'prompt'>, 'builtins' | 'message'>, client: Client): void {
  const { name = '', args = '' } = (builtins ? parseBuiltinCall(message) : undefined) ?? {};
  const command = Object.hasOwn(BUILTIN_COMMANDS, name) ? BUILTIN_COMMANDS[name]?.[args === '' ? 0 : 1] : undefined;
  const { grant } = client.identity;
  if (command && !permits(grant, command)) throw permissionDenied(command, grant);
  if (name === 'export' && args !== '') allowedOutput(args, client);
}

// The commands that do the same as a built-in slash command without and with arguments. `/reload` has none: `prompt` is
// enough.
const BUILTIN_COMMANDS: Readonly<Record<string, readonly [CommandName, CommandName]>> = {
  compact: ['compact', 'compact'],
  model: ['get_available_models', 'set_model'],
  name: ['get_state', 'set_session_name'],
  new: ['new_session', 'new_session'],
  fork: ['get_fork_messages', 'fork'],
  session: ['get_session_stats', 'get_session_stats'],
  export: ['export_html', 'export_html'],
  help: ['get_commands', 'get_commands'],
};
