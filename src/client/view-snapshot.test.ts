import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent, ServerConnectedEvent } from '../protocol/generated/vocabulary.ts';
import { anyToldSession, type ToldSession } from './testing/told-session.ts';
import { emptyView, reduce, type View } from './view.ts';

const connected = (fields: Partial<ServerConnectedEvent> = {}): AgentEvent => ({
  type: 'server_connected',
  sessionFile: null,
  sessionId: 's1',
  seq: 0,
  epoch: 'e',
  pingMs: 20_000,
  ...fields,
});

const viewAfter = (events: readonly AgentEvent[], view: View = emptyView) => events.reduce(reduce, view);

/** A session up to some event, and two places before that. */
interface Story {
  readonly session: ToldSession;
  readonly left: number;
  readonly back: number;
  readonly end: number;
}

/** What a client has heard that was there from the beginning. */
const heard = ({ session, end }: Story, until = end) =>
  viewAfter([connected(), ...(session.snapshots[0] ?? []), ...session.events.slice(0, until)]);

/** What one is told that comes later. */
const told = ({ session, back, end }: Story, fields?: Partial<ServerConnectedEvent>) => [
  connected(fields),
  ...(session.snapshots[back] ?? []),
  ...session.events.slice(back, end),
];

/** Without what is told once, to whoever is there. */
const lasting = ({ notices: _notices, retry: _retry, title: _title, ...view }: View) => view;

const anyStory: fc.Arbitrary<Story> = fc
  .tuple(anyToldSession, fc.array(fc.nat(), { minLength: 3, maxLength: 3 }))
  .map(([session, numbers]) => {
    const places = numbers.map((number) => number % (session.events.length + 1)).sort((one, other) => one - other);
    const [left = 0, back = 0, end = 0] = places;
    return { session, left, back, end };
  });

const forAny = (check: (story: Story) => void) => fc.assert(fc.property(anyStory, check), { numRuns: 500 });

describe('the view of whoever', () => {
  it('[V37] comes at any moment is the view of whoever was there', () => {
    forAny((story) => {
      expect(lasting(viewAfter(told(story)))).toEqual(lasting(heard(story)));
    });
  });

  it('[V24 V37] was away for too long, at any time, is the view of whoever was there', () => {
    forAny((story) => {
      const view = viewAfter(told(story, { resume: 'gap', epoch: 'f' }), heard(story, story.left));

      expect(lasting(view)).toEqual(lasting(heard(story)));
    });
  });

  it('[V24 V37] was away and missed nothing is the same to the last notice', () => {
    forAny((story) => {
      const missed = [connected({ resume: 'ok' }), ...story.session.events.slice(story.left, story.end)];

      expect(viewAfter(missed, heard(story, story.left))).toEqual(heard(story));
    });
  });

  it('[V37] goes to another session has nothing of the one before', () => {
    forAny((story) => {
      const view = viewAfter([connected({ sessionId: 's2' })], heard(story));

      expect(view).toEqual({ ...emptyView, state: { sessionId: 's2' } });
    });
  });
});
