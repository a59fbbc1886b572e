import { Refusal } from '../../protocol/errors.ts';
import type { Moved } from '../../protocol/generated/vocabulary.ts';
import { Answer } from '../hosting/answer.ts';
import type { Request, Target } from '../sessions.ts';
import type { Client } from './client.ts';

/**
 * Takes one client to another session, and nobody else: the agent asks its extensions and makes or checks the target, but
 * stays where it is. `target`: the session that was named, which another agent may be in.
 */
export async function move(
  request: Request,
  client: Client,
  answered: (answer: Answer) => void,
  target?: Target,
): Promise<void> {
  if (request['detached'] === true) {
    client.handle.send(request, answered);
    return;
  }
  await client.alone(async () => {
    const asked = await new Promise<Answer>((resolve) => client.handle.send({ ...request, detached: true }, resolve));
    const answer = isElsewhere(asked, client, target) ? movedTo(request, target as Target) : asked;
    const { cancelled, sessionId: id, sessionFile: path } = (answer.success ? answer.data() : {}) as Partial<Moved>;
    if (cancelled !== false || id === undefined) {
      answered(answer);
      return;
    }
    const { cwd } = client.handle;
    const next: Target =
      path === undefined ? { kind: 'new', id, cwd } : { kind: 'stored', id, path, cwd: target?.cwd ?? cwd };
    let isAnswered = false;
    const opened = () => {
      isAnswered = true;
      answered(answer);
    };
    await client.enter(next, opened).catch((error: unknown) => {
      if (isAnswered) client.lost(Refusal.from(error).message);
      else answered(Answer.refusal(request.type, Refusal.from(error)));
    });
  });
}

/** Whether the agent refused only because another agent of this server is in the session. */
const isElsewhere = (answer: Answer, client: Client, target: Target | undefined) =>
  !answer.success &&
  target !== undefined &&
  answer.record()['code'] === 'session_in_use' &&
  client.services.sessions.statusOf(target.id) !== undefined;

const movedTo = ({ type }: Request, target: Target) =>
  Answer.success(type, {
    cancelled: false,
    sessionId: target.id,
    ...(target.kind === 'stored' ? { sessionFile: target.path } : {}),
  });
