import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent, ServerConnectedEvent } from '../../protocol/generated/vocabulary.ts';
import { anySimulatedSession, type SimulatedSession } from '../testing/simulated-session.ts';
import { type ConversationView, emptyView, reduce } from './view.ts';

const connected = (fields: Partial<ServerConnectedEvent> = {}): AgentEvent => ({
  type: 'server_connected',
  sessionFile: null,
  sessionId: 's1',
  seq: 0,
  epoch: 'e',
  pingMs: 20_000,
  ...fields,
});

const viewAfter = (events: readonly AgentEvent[], view: ConversationView = emptyView) => events.reduce(reduce, view);

// A session up to some event, and two positions before it.
interface Scenario {
  readonly session: SimulatedSession;
  readonly lostAt: number;
  readonly resumedAt: number;
  readonly end: number;
}

// The view of a client that was connected from the beginning.
const liveView = ({ session, end }: Scenario, until = end) =>
  viewAfter([connected(), ...(session.snapshots[0] ?? []), ...session.events.slice(0, until)]);

// The events for a client that connects later.
const attachEvents = ({ session, resumedAt, end }: Scenario, fields?: Partial<ServerConnectedEvent>) => [
  connected(fields),
  ...(session.snapshots[resumedAt] ?? []),
  ...session.events.slice(resumedAt, end),
];

// Without state that is published once and is not in a snapshot.
const withoutTransient = ({ notices: _notices, retry: _retry, title: _title, ...view }: ConversationView) => view;

const anyScenario: fc.Arbitrary<Scenario> = fc
  .tuple(anySimulatedSession, fc.array(fc.nat(), { minLength: 3, maxLength: 3 }))
  .map(([session, numbers]) => {
    const positions = numbers.map((number) => number % (session.events.length + 1)).sort((one, other) => one - other);
    const [lostAt = 0, resumedAt = 0, end = 0] = positions;
    return { session, lostAt, resumedAt, end };
  });

const forAny = (check: (scenario: Scenario) => void) => fc.assert(fc.property(anyScenario, check), { numRuns: 500 });

describe('a client', () => {
  it('[V37] that connects at any moment has the view of one that was always connected', () => {
    forAny((scenario) => {
      expect(withoutTransient(viewAfter(attachEvents(scenario)))).toEqual(withoutTransient(liveView(scenario)));
    });
  });

  it('[V24 V37] that returns after a gap has the view of one that was always connected', () => {
    forAny((scenario) => {
      const view = viewAfter(
        attachEvents(scenario, { resume: 'gap', epoch: 'f' }),
        liveView(scenario, scenario.lostAt),
      );

      expect(withoutTransient(view)).toEqual(withoutTransient(liveView(scenario)));
    });
  });

  it('[V24 V37] that resumes without a gap has the same view, including notices', () => {
    forAny((scenario) => {
      const missed = [connected({ resume: 'ok' }), ...scenario.session.events.slice(scenario.lostAt, scenario.end)];

      expect(viewAfter(missed, liveView(scenario, scenario.lostAt))).toEqual(liveView(scenario));
    });
  });

  it('[V37] that moves to another session has nothing of the previous one', () => {
    forAny((scenario) => {
      const view = viewAfter([connected({ sessionId: 's2' })], liveView(scenario));

      expect(view).toEqual({ ...emptyView, state: { sessionId: 's2' } });
    });
  });
});
