import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ids, idsTo, linesOf, user, writeSession } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { type EntryDraft, SessionLog } from './session-log.ts';

type Move = { readonly append: EntryDraft; readonly below?: number } | { readonly goTo: number };
type Step = { readonly append: EntryDraft } | { readonly moveTo: number };

const text = fc.string({ unit: 'binary', maxLength: 20 });
const draft: fc.Arbitrary<EntryDraft> = fc.oneof(
  text.map(user),
  fc
    .record({ clientMessageId: text, body: text })
    .map(({ clientMessageId, body }) => ({ ...user(body), clientMessageId })),
  fc.record({ customType: text, data: fc.jsonValue() }).map((rest) => ({ type: 'custom' as const, ...rest })),
  fc.record({ name: text }).map((rest) => ({ type: 'session_info' as const, ...rest })),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: draft.map((append) => ({ append })) },
  { weight: 1, arbitrary: fc.nat(20).map((moveTo) => ({ moveTo })) },
);

const tree = (log: SessionLog) => ({
  entries: log.entries(),
  paths: ids(log).map((id) => idsTo(log, id)),
  nodes: ids(log).flatMap((id) => [...log.nodes(id)].slice(0, 1)),
  branches: ids(log).map((id) => log.branch(id)),
});

it('reopening yields the same tree after any appends', async () => {
  const directory = tempFolder();

  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const log = await SessionLog.create({ directory, cwd: '/srv/shop' });
      const parents = new Map<string, string | null>();
      const append = (draft: EntryDraft) => {
        const parent = log.leafId;
        parents.set(log.append(draft).id, parent);
      };
      append(user('so that it is kept'));
      for (const each of steps) {
        if ('append' in each) append(each.append);
        else log.moveLeaf([null, ...parents.keys()][each.moveTo % (parents.size + 1)] ?? null);
      }
      const last = [...parents.keys()].at(-1);
      const before = tree(log);
      await log.close();

      const again = await SessionLog.open(log.path ?? '');

      expect(tree(again)).toEqual(before);
      expect(again.entries().map(({ id, parentId }) => [id, parentId])).toEqual([...parents]);
      expect(again.leafId).toBe(last);
      expect(again.entries()).toEqual(
        linesOf(log.path)
          .slice(1)
          .map((line) => JSON.parse(line)),
      );
      await again.close();
    }),
    { numRuns: 60 },
  );
});

it('every whole line survives a cut anywhere, and the session continues from there', async () => {
  const directory = tempFolder();
  const file = join(directory, 's.jsonl');

  await fc.assert(
    fc.asyncProperty(fc.array(draft, { maxLength: 8 }), fc.nat(), async (drafts, at) => {
      const log = await SessionLog.create({ directory, cwd: '/srv/shop' });
      log.append(user('first'));
      for (const each of drafts) log.append(each);
      await log.close();
      const bytes = readFileSync(log.path ?? '');
      const header = bytes.indexOf('\n') + 1;
      const cut = bytes.subarray(0, header + (at % (bytes.length - header + 1)));
      writeFileSync(file, cut);
      const whole = cut.toString().split('\n').slice(1).filter(isJson);

      const again = await SessionLog.open(file);
      const next = again.append(user('next'));

      const kept = whole.map((line) => JSON.parse(line));
      expect(again.entries()).toEqual([...kept, next]);
      expect(next.parentId).toBe(kept.at(-1)?.id ?? null);
      await again.close();
      expect(linesOf(file).slice(1)).toEqual([...whole, JSON.stringify(next)]);
    }),
    { numRuns: 200 },
  );
});

it('the leaf survives moves and a cut anywhere', async () => {
  const directory = tempFolder();
  const file = join(directory, 's.jsonl');
  const move: fc.Arbitrary<Move> = fc.oneof(
    draft.map((append) => ({ append })),
    fc.nat(20).map((goTo) => ({ goTo })),
    fc.record({ below: fc.nat(20), append: draft }),
  );

  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 12 }), fc.nat(), async (moves, at) => {
      const log = await SessionLog.create({ directory, cwd: '/srv/shop' });
      const lengthOf = () => readFileSync(log.path ?? '').length;
      const positions = [{ length: lengthOf(), leaf: log.leafId }];
      const pick = (number: number) => [null, ...ids(log)][number % (log.size + 1)] ?? null;
      for (const each of [{ append: user('first') } as Move, ...moves]) {
        if ('goTo' in each) log.storeLeaf(pick(each.goTo));
        else log.append(each.append, each.below === undefined ? log.leafId : pick(each.below));
        positions.push({ length: lengthOf(), leaf: log.leafId });
      }
      await log.close();
      const bytes = readFileSync(log.path ?? '');
      const [header] = positions;
      const cut = (header?.length ?? 0) + (at % (bytes.length - (header?.length ?? 0) + 1));
      writeFileSync(file, bytes.subarray(0, cut));

      const again = await SessionLog.open(file);

      // A line that lacks only its line feed is whole.
      expect(again.leafId).toBe(positions.findLast(({ length }) => length - 1 <= cut)?.leaf);
      await again.close();
    }),
    { numRuns: 200 },
  );
});

it('any content after a header opens without failing, and whole lines never change', async () => {
  const file = join(tempFolder(), 's.jsonl');
  const link = fc.record({
    type: fc.constantFrom('message', 'custom', 'label'),
    id: fc.constantFrom('a', 'b', 'c', 'd'),
  });
  const loose = fc
    .tuple(link, fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e')))
    .map(([{ type, id }, parentId]) =>
      JSON.stringify({ type, id, parentId, timestamp: 't', message: { role: 'user' } }),
    );
  const rubbish = fc.oneof(
    loose,
    fc.json(),
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')),
  );

  await fc.assert(
    fc.asyncProperty(fc.array(rubbish, { maxLength: 12 }), async (lines) => {
      writeSession(file, JSON.stringify({ ...user('x'), id: 'z', parentId: null, timestamp: 't' }), ...lines);
      const before = readFileSync(file, 'latin1');

      const log = await SessionLog.open(file);

      for (const id of ids(log)) expect(new Set(idsTo(log, id)).size).toBe(idsTo(log, id).length);
      expect(log.branch().length).toBeLessThanOrEqual(log.size);
      await log.close();
      expect(readFileSync(file, 'latin1')).toBe(before);
    }),
    { numRuns: 200 },
  );
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
