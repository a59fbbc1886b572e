import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { Transcript } from '../../session/transcript.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { Todos } from './todos.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const session = () => new Transcript(SessionLog.inMemory({ cwd: '/' }), () => {});

/** Todos of an agent that can change its session. */
function newTodos() {
  const events: AgentEvent[] = [];
  const agent = { transcript: session() };
  const todos = new Todos({
    transcript: () => agent.transcript,
    settings: () => ({}),
    publish: (event) => events.push(event),
    change: (work) => work(),
    hasTool: () => true,
    mayRemind: () => true,
  });
  return { agent, todos, events };
}

const plan = (...statuses: ('pending' | 'completed')[]) => [
  { name: 'All', tasks: statuses.map((status) => ({ content: 'x', status })) },
];

const statuses = ({ phases }: Todos) => phases.flatMap(({ tasks }) => tasks.map(({ status }) => status));

it('the plan belongs to the branch', async () => {
  const { agent, todos } = newTodos();
  todos.set(plan('pending'));
  const { leafId } = agent.transcript.log;
  todos.set(plan('completed', 'completed'));

  agent.transcript.log.moveLeaf(leafId);
  expect(statuses(todos)).toEqual(['pending']);
  agent.transcript.log.moveLeaf(null);
  expect(statuses(todos)).toEqual([]);
});

it('tasks finished on another branch expire after the branch is entered', async () => {
  const { agent, todos, events } = newTodos();
  todos.set(plan('completed', 'pending'));
  const { leafId } = agent.transcript.log;
  todos.set(plan('pending', 'pending'));
  agent.transcript.log.moveLeaf(leafId);

  await todos.hooks.afterTree?.({ newLeafId: leafId, oldLeafId: null, fromHook: false });
  vi.advanceTimersByTime(60_000);

  expect(statuses(todos)).toEqual(['pending']);
  expect(events).toEqual([{ type: 'todo_auto_clear' }]);
});

it('a task of one session never expires in another session with the same ids', () => {
  const { agent, todos, events } = newTodos();
  const [first, second] = [agent.transcript, session()];
  agent.transcript = second;
  todos.set(plan('completed'));
  agent.transcript = first;
  todos.set(plan('completed'));

  agent.transcript = second;
  vi.advanceTimersByTime(60_000);
  expect(statuses(todos)).toEqual(['completed']);
  todos.branchChanged();
  vi.advanceTimersByTime(59_999);
  expect(events).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(statuses(todos)).toEqual([]);
  agent.transcript = first;
  expect(statuses(todos)).toEqual(['completed']);
});

it('a task stays without an event if the change cannot be stored', async () => {
  const { agent, todos, events } = newTodos();
  todos.set(plan('completed'));

  await agent.transcript.log.close();
  vi.advanceTimersByTime(60_000);

  expect(statuses(todos)).toEqual(['completed']);
  expect(events).toEqual([]);
});

it('no task expires after close', () => {
  const { todos, events } = newTodos();
  todos.set(plan('completed'));

  todos.close();
  vi.advanceTimersByTime(60_000);

  expect(events).toEqual([]);
});
