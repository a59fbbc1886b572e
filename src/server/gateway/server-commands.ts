import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { CommandName, Params } from '../../protocol/generated/vocabulary.ts';
import { mayOpen } from '../auth/grant.ts';
import { Answer } from '../hosting/answer.ts';
import type { Request } from '../sessions.ts';
import { builtinMove, builtinMoveIn } from './builtin-moves.ts';
import type { Client } from './client.ts';
import { hello } from './hello.ts';
import { move } from './moves.ts';

type Answered = (answer: Answer) => void;

/** Does a command here, in whole or in part, instead of handing it to the agent. */
export type ServerCommand<P = unknown> = (
  request: Request & P,
  client: Client,
  answered: Answered,
) => void | Promise<void>;

/** The commands that mean something else where several clients share an agent, or that are about other sessions. */
export const serverCommands: { readonly [C in CommandName]?: ServerCommand<Params<C>> } = {
  ping: ({ type }, _client, answered) => answered(Answer.success(type)),

  hello,

  prompt: (request, client, answered) => {
    const prompt = { builtins: client.builtins, ...request };
    checkBuiltin(prompt, client);
    const wanted = prompt.builtins ? builtinMoveIn(prompt.message) : undefined;
    return wanted ? builtinMove(wanted, { prompt, client, answered }) : client.handle.send(prompt, answered);
  },

  abort_and_prompt: async (request, client, answered) => {
    const prompt = { builtins: client.builtins, ...request };
    const wanted = prompt.builtins ? builtinMoveIn(prompt.message) : undefined;
    checkBuiltin(prompt, client);
    if (!wanted) return client.handle.send(prompt, answered);
    await client.alone(() => new Promise((resolve) => client.handle.send({ type: 'abort' }, () => resolve())));
    return builtinMove(wanted, { prompt, client, answered });
  },

  get_commands: (request, client, answered) => client.handle.send({ builtins: client.builtins, ...request }, answered),

  new_session: (request, client, answered) => {
    const { parentSession } = request;
    const { library } = client.services;
    // What it may not see it may not name either.
    if (parentSession !== undefined && client.visitor.grant.allowedPaths) {
      library.at(parentSession, client.visitor.grant, client.handle.cwd);
    }
    return move(request, client, answered);
  },

  switch_session: (request, client, answered) => {
    const target = client.services.library.at(request.sessionPath, client.visitor.grant, client.handle.cwd);
    return move(request, client, answered, target);
  },

  fork: move,
  branch: move,
  clone: move,

  set_host_tools: (request, client, answered) =>
    client.handle.send(request, (answer) => {
      if (answer.success) client.hostTools = request.tools;
      answered(answer);
    }),

  list_sessions: async (request, client, answered) =>
    answered(Answer.success(request.type, await client.services.library.list(request, client.visitor.grant))),

  delete_session: (request, client, answered) =>
    client.alone(async () => {
      const { library, sessions } = client.services;
      const target = library.at(request.sessionPath, client.visitor.grant, client.handle.cwd);
      // The agent of this client knows by itself that it cannot delete where it is.
      if (target.id !== client.sessionId && !(await sessions.letGo(target))) {
        throw new Refusal('session_in_use', `Session is in use by other clients: ${request.sessionPath}`);
      }
      client.handle.send(request, answered);
    }),

  rename_session: (request, client, answered) =>
    client.alone(async () => {
      const { library, sessions } = client.services;
      const { type, sessionPath, name } = request;
      const target = library.at(sessionPath, client.visitor.grant, client.handle.cwd);
      const isHere = target.id === client.sessionId;
      const answer = isHere ? undefined : await sessions.ask(target, { type: 'set_session_name', name });
      if (!answer) client.handle.send(request, answered);
      else answered(answer.success ? Answer.success(type) : Answer.of({ ...answer.record(), command: type }));
    }),

  export_html: (request, client, answered) => {
    const { exports } = client.services;
    const { outputPath } = request;
    const path = outputPath === undefined ? exports.newPath() : allowedOutput(outputPath, client);
    const offered = (): Answer => {
      try {
        const url = exports.offer(realpathSync(path), client.visitor.grant);
        return Answer.success(request.type, { path, url });
      } catch (error) {
        return Answer.refusal(request.type, Refusal.from(error));
      }
    };
    client.handle.send({ ...request, outputPath: path }, (answer) => answered(answer.success ? offered() : answer));
  },
};

/** Where a client may write an export. */
function allowedOutput(outputPath: string, { handle, visitor }: Client): string {
  const path = resolve(handle.cwd, outputPath);
  if (mayOpen(visitor.grant, path)) return path;
  throw new Refusal('permission_denied', `Permission denied: ${outputPath}`);
}

/** The built-in command that writes a file. */
const EXPORT = /^\/export\s+(?<path>\S[\s\S]*)$/;

/** Refuses what would be refused as a command of its own. */
function checkBuiltin({ builtins, message }: Params<'prompt'>, client: Client): void {
  const outputPath = builtins ? EXPORT.exec(message)?.groups?.['path'] : undefined;
  if (outputPath !== undefined) allowedOutput(outputPath.trim(), client);
}
