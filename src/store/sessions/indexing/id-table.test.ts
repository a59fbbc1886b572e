import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IdTable } from './id-table.ts';

it('a table numbers ids as a Map would', () => {
  const hex = fc.integer({ min: 0, max: 300 }).map((value) => value.toString(16).padStart(8, '0'));
  const id = fc.oneof(
    hex,
    fc.constantFrom('FFFFFFFF', 'ffffffff', '0000000g', '+1234567', 'short', '12345678-1234', '00000000'),
  );

  fc.assert(
    fc.property(fc.array(id, { maxLength: 400 }), (ids) => {
      const table = new IdTable();
      const rows = new Map<string, number>();
      for (const each of ids) {
        const row = rows.get(each) ?? rows.size;
        rows.set(each, row);
        expect(table.add(each)).toBe(row);
      }
      expect(table.size).toBe(rows.size);
      for (const [each, row] of rows) expect([table.row(each), table.id(row)]).toEqual([row, each]);
      expect(table.row('missing!')).toBeUndefined();
      expect(table.row('0000ffff')).toBeUndefined();
    }),
  );
});
