import { describe, expect, it } from 'vitest';
import type { Handle, Sessions, Target, Wish } from '../../sessions.ts';
import { asked, Listening } from './listening.ts';

/** Sessions under test, and what is known of them. */
export interface SessionsUnderTest {
  readonly sessions: Sessions;
  /** A session that does not exist yet. */
  readonly newTarget: () => Target;
  /** The same session, once something was said in it. */
  readonly storedTarget: (handle: Handle) => Target | Promise<Target>;
  /** Kills whatever runs the session, without a warning. */
  readonly kill: (sessionId: string) => void;
}

/** What everything promises in which sessions can be opened. The model answers `hello` to `hello`, and to `wait` nothing. */
export function sessionsContract(name: string, make: () => SessionsUnderTest | Promise<SessionsUnderTest>): void {
  const opened = async (sessions: Sessions, target: Target, wish: Wish = {}, listener = new Listening()) => {
    const handle = await sessions.open(target, listener);
    await handle.attach(wish);
    return { handle, listener };
  };

  const prompt = (handle: Handle, message: string) => asked(handle, { type: 'prompt', message });

  describe(name, () => {
    it('opens a new session, and tells where it is and what is there', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const { handle, listener } = await opened(sessions, target);

      expect(handle).toMatchObject({ sessionId: target.id, cwd: target.cwd });
      expect(listener.greetings).toMatchObject([{ sessionId: target.id, resume: undefined }]);
      expect(listener.snapshots).toMatchObject([{ messages: '[]', state: { sessionId: target.id } }]);
      expect(sessions.statusOf(target.id)).toBe('idle');
      expect(sessions.folderOf(target.id)).toBe(target.cwd);
    });

    it('hands an answer to whoever asked, under the name it gave, before what it leads to', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const first = await opened(sessions, target);
      const second = await opened(sessions, target);
      const order: string[] = [];
      first.listener.hear = ({ event }) => void order.push(event.type);

      const answer = await new Promise<string>((resolve) =>
        first.handle.send({ type: 'prompt', id: { any: 'thing' }, message: 'hello' }, (one) => {
          order.push('answer');
          resolve(one.text({ any: 'thing' }));
        }),
      );
      await second.listener.heard('agent_settled');

      expect(JSON.parse(answer)).toMatchObject({ id: { any: 'thing' }, command: 'prompt', success: true });
      expect(order.indexOf('answer')).toBe(order.indexOf('agent_start') - 1);
    });

    it('lets everybody hear the same under the same numbers, whoever opened it first', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const [first, second] = await Promise.all([opened(sessions, target), opened(sessions, target)]);
      await prompt(first.handle, 'hello');
      await Promise.all([first, second].map(({ listener }) => listener.heard('agent_settled')));

      expect(second.listener.events).toEqual(first.listener.events);
      expect(second.listener.cursor.epoch).toBe(first.listener.cursor.epoch);
      const numbers = first.listener.events.flatMap(({ seq }) => seq ?? []);
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    });

    it('lets one who comes back go on where it was', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const stayed = await opened(sessions, target);
      const left = await opened(sessions, target);
      const { cursor } = left.listener;
      await left.handle.close();
      await prompt(stayed.handle, 'hello');
      await stayed.listener.heard('agent_settled');

      const back = await opened(sessions, target, { cursor });

      expect(left.listener.events).toEqual([]);
      expect(back.listener.greetings).toMatchObject([{ resume: 'ok', seq: cursor.after, epoch: cursor.epoch }]);
      expect(back.listener.snapshots).toEqual([]);
      expect(back.listener.events).toEqual(stayed.listener.events);
    });

    it('tells one who comes back from elsewhere everything anew', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const first = await opened(sessions, target);
      await prompt(first.handle, 'hello');
      await first.listener.heard('agent_settled');

      const back = await opened(sessions, target, { cursor: { epoch: 'another', after: 3 } });

      expect(back.listener.greetings).toMatchObject([{ resume: 'gap', seq: first.listener.cursor.after }]);
      expect(JSON.parse(back.listener.snapshots[0]?.messages ?? '')).toHaveLength(2);
    });

    it('tells as many of the last messages as one wants, and where those before are', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const { handle, listener } = await opened(sessions, target);
      await prompt(handle, 'hello');
      await listener.heard('agent_settled');

      const [late] = (await opened(sessions, target, { tail: 1 })).listener.snapshots;

      expect(JSON.parse(late?.messages ?? '')).toMatchObject([{ role: 'assistant' }]);
      const page = await asked(handle, { type: 'get_messages_page', from: 'end', cursor: late?.cursor });
      expect(page).toMatchObject({ data: { messages: [{ role: 'user' }] } });
    });

    it('goes on without listeners, and is found again by what is stored', async () => {
      const { sessions, newTarget, storedTarget } = await make();
      const { handle, listener } = await opened(sessions, newTarget());
      await prompt(handle, 'hello');
      await listener.heard('agent_settled');
      const target = await storedTarget(handle);
      await handle.close();

      expect(await sessions.letGo(target)).toBe(true);
      expect(sessions.statusOf(target.id)).toBeUndefined();
      const again = await opened(sessions, target);

      expect(JSON.parse(again.listener.snapshots[0]?.messages ?? '')).toHaveLength(2);
      expect(again.listener.cursor.epoch).not.toBe(listener.cursor.epoch);
    });

    it('lets nobody go who is needed', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const { handle } = await opened(sessions, target);
      expect(await sessions.letGo(target)).toBe(false);
      await prompt(handle, 'wait');
      await handle.close();

      expect(sessions.statusOf(target.id)).toBe('running');
      expect(await sessions.letGo(target)).toBe(false);
    });

    it('can be asked without a listener, where somebody is in the session', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      await opened(sessions, target);

      const answer = await sessions.ask(target, { type: 'set_session_name', name: 'Ours' });

      expect(answer?.success).toBe(true);
      expect(await sessions.ask({ ...target, id: 'nobody' }, { type: 'get_state' })).toBeUndefined();
    });

    it('ends what was under way when the agent dies, and goes on', async () => {
      const { sessions, newTarget, kill } = await make();
      const target = newTarget();
      const { handle, listener } = await opened(sessions, target);
      const { data } = await prompt(handle, 'wait');
      await listener.heard('message_start');

      kill(target.id);
      const settled = await listener.heard('agent_settled');
      while (listener.snapshots.length < 2) await listener.change();

      expect(settled).toMatchObject({ runId: (data as { runId: string }).runId, errorCode: 'interrupted' });
      expect(listener.events.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
      const from = listener.events.length;
      await prompt(handle, 'hello');
      expect(await listener.heard('agent_settled', from)).toMatchObject({ outcome: 'ok' });
      expect(listener.losses).toEqual([]);
    });
  });
}
