// Holds counts that may only fall. `node scripts/tidy --lower` records what has been gained; `--list <name>` prints the places.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countShelves } from './shelves.mjs';
import { read, root } from './source-tree.mjs';
import { countVocabulary } from './vocabulary.mjs';

const RECORD = 'scripts/tidy/ratchet.json';

/** Compares every count with its record and returns what is wrong. */
export function checkRatchet(args) {
  const places = { ...countVocabulary(), ...countShelves() };
  const listed = places[args[args.indexOf('--list') + 1]];
  if (args.includes('--list')) for (const place of listed ?? Object.keys(places)) console.log(place);
  const counts = Object.fromEntries(Object.entries(places).map(([name, { length }]) => [name, length]));
  if (args.includes('--lower')) writeFileSync(join(root, RECORD), `${JSON.stringify(counts, undefined, 2)}\n`);
  const recorded = JSON.parse(read(RECORD));
  return Object.entries(counts).flatMap(([name, count]) => {
    if (count > recorded[name])
      return [`${name}: ${count}, at most ${recorded[name]}: node scripts/tidy --list ${name}`];
    return count < recorded[name]
      ? [`${name}: ${count}, recorded as ${recorded[name]}: node scripts/tidy --lower`]
      : [];
  });
}
