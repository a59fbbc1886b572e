import { describe, expect, it } from 'vitest';
import type { AttachOptions, SessionHandle, Sessions, SessionTarget } from '../../sessions.ts';
import { RecordingSubscriber, sendRequest } from './recording-subscriber.ts';

/** Sessions under test with their fixtures. */
export interface SessionsUnderTest {
  readonly sessions: Sessions;
  readonly newTarget: () => SessionTarget;
  /** The same session, once it holds a message. */
  readonly storedTarget: (handle: SessionHandle) => SessionTarget | Promise<SessionTarget>;
  /** Kills the agent of a session. */
  readonly kill: (sessionId: string) => void;
}

/** The guarantees of every implementation of `Sessions`. The model responds `hello` to `hello` and stalls on `wait`. */
export function sessionsContract(name: string, make: () => SessionsUnderTest | Promise<SessionsUnderTest>): void {
  const open = async (
    sessions: Sessions,
    target: SessionTarget,
    options: AttachOptions = {},
    subscriber = new RecordingSubscriber(),
  ) => {
    const handle = await sessions.open(target, subscriber);
    await handle.attach(options);
    return { handle, listener: subscriber };
  };

  const prompt = (handle: SessionHandle, message: string) => sendRequest(handle, { type: 'prompt', message });

  describe(name, () => {
    it('opening a new session delivers its location and an empty snapshot', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const { handle, listener: subscriber } = await open(sessions, target);

      expect(handle).toMatchObject({ sessionId: target.id, cwd: target.cwd });
      expect(subscriber.attachResults).toMatchObject([{ sessionId: target.id, resume: undefined }]);
      expect(subscriber.snapshots).toMatchObject([{ messages: '[]', state: { sessionId: target.id } }]);
      expect(sessions.statusOf(target.id)).toBe('idle');
      expect(sessions.folderOf(target.id)).toBe(target.cwd);
    });

    it("a response goes to its sender under the sender's id, before the events it causes", async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const first = await open(sessions, target);
      const second = await open(sessions, target);
      const order: string[] = [];
      first.listener.onRecord = ({ event }) => void order.push(event.type);

      const response = await new Promise<string>((resolve) =>
        first.handle.send({ type: 'prompt', id: { any: 'thing' }, message: 'hello' }, (one) => {
          order.push('answer');
          resolve(one.toText({ any: 'thing' }));
        }),
      );
      await second.listener.waitForEvent('agent_settled');

      expect(JSON.parse(response)).toMatchObject({ id: { any: 'thing' }, command: 'prompt', success: true });
      expect(order.indexOf('answer')).toBe(order.indexOf('agent_start') - 1);
    });

    it('all subscribers receive the same events with the same sequence numbers', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const [first, second] = await Promise.all([open(sessions, target), open(sessions, target)]);
      await prompt(first.handle, 'hello');
      await Promise.all([first, second].map(({ listener: subscriber }) => subscriber.waitForEvent('agent_settled')));

      expect(second.listener.events).toEqual(first.listener.events);
      expect(second.listener.cursor.epoch).toBe(first.listener.cursor.epoch);
      const numbers = first.listener.events.flatMap(({ seq }) => seq ?? []);
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    });

    it('a client with a known cursor resumes without a snapshot', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const attached = await open(sessions, target);
      const detached = await open(sessions, target);
      const { cursor } = detached.listener;
      await detached.handle.close();
      await prompt(attached.handle, 'hello');
      await attached.listener.waitForEvent('agent_settled');

      const resumed = await open(sessions, target, { cursor });

      expect(detached.listener.events).toEqual([]);
      expect(resumed.listener.attachResults).toMatchObject([{ resume: 'ok', seq: cursor.after, epoch: cursor.epoch }]);
      expect(resumed.listener.snapshots).toEqual([]);
      expect(resumed.listener.events).toEqual(attached.listener.events);
    });

    it('a client with a cursor of another epoch gets a snapshot', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const first = await open(sessions, target);
      await prompt(first.handle, 'hello');
      await first.listener.waitForEvent('agent_settled');

      const resumed = await open(sessions, target, { cursor: { epoch: 'another', after: 3 } });

      expect(resumed.listener.attachResults).toMatchObject([{ resume: 'gap', seq: first.listener.cursor.after }]);
      expect(JSON.parse(resumed.listener.snapshots[0]?.messages ?? '')).toHaveLength(2);
    });

    it('a snapshot holds as many last messages as requested, with the cursor of the previous page', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const { handle, listener: subscriber } = await open(sessions, target);
      await prompt(handle, 'hello');
      await subscriber.waitForEvent('agent_settled');

      const [late] = (await open(sessions, target, { tail: 1 })).listener.snapshots;

      expect(JSON.parse(late?.messages ?? '')).toMatchObject([{ role: 'assistant' }]);
      const page = await sendRequest(handle, { type: 'get_messages_page', from: 'end', cursor: late?.cursor });
      expect(page).toMatchObject({ data: { messages: [{ role: 'user' }] } });
    });

    it('a session without clients can be released and opened again from its file', async () => {
      const { sessions, newTarget, storedTarget } = await make();
      const { handle, listener: subscriber } = await open(sessions, newTarget());
      await prompt(handle, 'hello');
      await subscriber.waitForEvent('agent_settled');
      const target = await storedTarget(handle);
      await handle.close();

      expect(await sessions.release(target)).toBe(true);
      expect(sessions.statusOf(target.id)).toBeUndefined();
      const again = await open(sessions, target);

      expect(JSON.parse(again.listener.snapshots[0]?.messages ?? '')).toHaveLength(2);
      expect(again.listener.cursor.epoch).not.toBe(subscriber.cursor.epoch);
    });

    it('a session with a client or a run is not released', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      const { handle } = await open(sessions, target);
      expect(await sessions.release(target)).toBe(false);
      await prompt(handle, 'wait');
      await handle.close();

      expect(sessions.statusOf(target.id)).toBe('running');
      expect(await sessions.release(target)).toBe(false);
    });

    it('request reaches a live session without a subscriber, and no other', async () => {
      const { sessions, newTarget } = await make();
      const target = newTarget();
      await open(sessions, target);

      const response = await sessions.request(target, { type: 'set_session_name', name: 'Ours' });

      expect(response?.success).toBe(true);
      expect(await sessions.request({ ...target, id: 'nobody' }, { type: 'get_state' })).toBeUndefined();
    });

    it('after a crash the run ends as interrupted and the session continues', async () => {
      const { sessions, newTarget, kill } = await make();
      const target = newTarget();
      const { handle, listener: subscriber } = await open(sessions, target);
      const { data } = await prompt(handle, 'wait');
      await subscriber.waitForEvent('message_start');

      kill(target.id);
      const settled = await subscriber.waitForEvent('agent_settled');
      while (subscriber.snapshots.length < 2) await subscriber.change();

      expect(settled).toMatchObject({ runId: (data as { runId: string }).runId, errorCode: 'interrupted' });
      expect(subscriber.events.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
      const from = subscriber.events.length;
      await prompt(handle, 'hello');
      expect(await subscriber.waitForEvent('agent_settled', from)).toMatchObject({ outcome: 'ok' });
      expect(subscriber.losses).toEqual([]);
    });
  });
}
