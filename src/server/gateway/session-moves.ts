import { Refusal } from '../../protocol/errors.ts';
import type { Moved, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { parseBuiltinMove } from '../../protocol/slash-commands.ts';
import { AgentResponse } from '../agent-response.ts';
import type { CommandRequest, SessionTarget } from '../sessions.ts';
import type { Client } from './client.ts';

/**
 * Moves one client to another session: the agent checks or creates the target and stays where it is. `target` is the
 * named session, which another agent may have open.
 */
export async function moveClient(
  request: CommandRequest,
  client: Client,
  onResponse: (response: AgentResponse) => void,
  target?: SessionTarget,
): Promise<void> {
  const { sessions, library } = client.services;
  if (request['detached'] === true) {
    if (library && target) await sessions.fetch(target, client.handle);
    client.handle.send(request, (response) => {
      const created = library && !target ? nextSession(response, client) : undefined;
      if (!created) onResponse(response);
      else
        void sessions.adopt(created).then(
          () => onResponse(response),
          (error: unknown) => onResponse(AgentResponse.refusal(request.type, Refusal.from(error))),
        );
    });
    return;
  }
  await client.exclusively(async () => {
    const isReachable = !target || (await sessions.fetch(target, client.handle));
    const detached = isReachable ? await sendDetached(request, client) : moved(request, target as SessionTarget);
    const response = isOpenElsewhere(detached, client, target) ? moved(request, target as SessionTarget) : detached;
    const next = nextSession(response, client, target);
    if (!next) {
      onResponse(response);
      return;
    }
    if (!target) await sessions.adopt(next);
    let hasResponded = false;
    const onOpened = () => {
      hasResponded = true;
      onResponse(response);
    };
    await client.switchTo(next, onOpened).catch((error: unknown) => {
      if (hasResponded) client.onAgentLost(Refusal.from(error).message);
      else onResponse(AgentResponse.refusal(request.type, Refusal.from(error)));
    });
  });
}

/** The session that a response names, unless the move failed or was cancelled. */
function nextSession(response: AgentResponse, client: Client, target?: SessionTarget): SessionTarget | undefined {
  const { cancelled, sessionId: id, sessionFile: path } = (response.success ? response.data() : {}) as Partial<Moved>;
  if (cancelled !== false || id === undefined) return undefined;
  const { cwd, sessionId } = client.handle;
  if (path === undefined) return { kind: 'new', id, cwd, beside: sessionId };
  return { kind: 'stored', id, path, cwd: target?.cwd ?? cwd };
}

const sendDetached = (request: CommandRequest, client: Client) =>
  new Promise<AgentResponse>((resolve) => client.handle.send({ ...request, detached: true }, resolve));

/** Whether the agent refused only because another agent of this server has the session open. */
const isOpenElsewhere = (response: AgentResponse, client: Client, target: SessionTarget | undefined) =>
  !response.success &&
  target !== undefined &&
  response.record()['code'] === 'session_in_use' &&
  client.services.sessions.statusOf(target.id) !== undefined;

const moved = ({ type }: CommandRequest, target: SessionTarget) =>
  AgentResponse.success(type, {
    cancelled: false,
    sessionId: target.id,
    ...(target.kind === 'stored' ? { sessionFile: target.path } : {}),
  });

/** The move that a message requests by its built-in slash command, if any. */
export function builtinMoveRequest(message: string): CommandRequest | undefined {
  const move = parseBuiltinMove(message);
  if (!move) return undefined;
  return move.entryId === undefined ? { type: 'new_session' } : { type: 'fork', entryId: move.entryId };
}

/** Moves this client alone, unless an extension registered a command of the same name: that one runs instead. */
export function runBuiltinMove(
  requested: CommandRequest,
  {
    prompt,
    client,
    onResponse,
  }: { prompt: CommandRequest; client: Client; onResponse: (response: AgentResponse) => void },
): Promise<void> {
  return client.exclusively(async () => {
    if (await isExtensionCommand(requested.type === 'fork' ? 'fork' : 'new', client))
      client.handle.send(prompt, onResponse);
    else await moveClient(requested, client, (response) => onResponse(asPromptResponse(prompt, response)));
  });
}

async function isExtensionCommand(name: string, client: Client): Promise<boolean> {
  const request: CommandRequest = { type: 'get_commands', builtins: false };
  const response = await new Promise<AgentResponse>((resolve) => client.handle.send(request, resolve));
  const { commands = [] } = response.success ? (response.data() as { commands: SlashCommand[] }) : {};
  return commands.some((command) => command.name === name);
}

const asPromptResponse = ({ type }: CommandRequest, response: AgentResponse) =>
  response.success
    ? AgentResponse.success(type, { disposition: 'handled', output: moveOutput(response) })
    : AgentResponse.from({ ...response.record(), command: type });

/** The same texts as the agent prints. */
function moveOutput(response: AgentResponse): string {
  const { cancelled, sessionId, text } = response.data() as { cancelled: boolean; sessionId?: string; text?: string };
  if (cancelled) return 'An extension cancelled it';
  return text === undefined ? `Started the session ${sessionId}` : `Forked before: ${text}`;
}

/** Holds back the session commands of a client while it moves to another session. */
export class MoveBarrier {
  #held: (() => void)[] | undefined;

  run(work: () => void): void {
    if (this.#held) this.#held.push(work);
    else work();
  }

  /** Runs work while all other work is held. */
  async runExclusively(work: () => Promise<void>): Promise<void> {
    this.#held ??= [];
    try {
      await work();
    } finally {
      this.#release();
    }
  }

  /** Runs held work in order until some of it is exclusive. */
  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    while (held.length > 0 && !this.#held) held.shift()?.();
    (this.#held as (() => void)[] | undefined)?.unshift(...held);
  }
}
