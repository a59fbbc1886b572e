import { Refusal } from '../../protocol/errors.ts';
import type { Moved } from '../../protocol/generated/vocabulary.ts';
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
  if (request['detached'] === true) {
    client.handle.send(request, onResponse);
    return;
  }
  await client.exclusively(async () => {
    const detached = await new Promise<AgentResponse>((resolve) => client.handle.send({ ...request, detached: true }, resolve));
    const response = isOpenElsewhere(detached, client, target) ? moved(request, target as SessionTarget) : detached;
    const { cancelled, sessionId: id, sessionFile: path } = (response.success ? response.data() : {}) as Partial<Moved>;
    if (cancelled !== false || id === undefined) {
      onResponse(response);
      return;
    }
    const { cwd } = client.handle;
    const next: SessionTarget =
      path === undefined ? { kind: 'new', id, cwd } : { kind: 'stored', id, path, cwd: target?.cwd ?? cwd };
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
