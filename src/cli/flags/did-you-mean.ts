import { hasExtensions } from '../../engine/addons/detect.ts';
import { cliPaths } from '../engine-options.ts';
import { type CliArguments, flags, UnknownWordError } from './flags.ts';

// The most edits between a misspelt word and its suggestion.
const MAX_DISTANCE = 2;

/** Suggests the known word nearest to a misspelt one. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const [closest] = known
    .map((word) => ({ word, edits: distance(given, word), lengthGap: Math.abs(word.length - given.length) }))
    .filter(({ word, edits }) => edits <= MAX_DISTANCE && edits < word.replace(/^-+/, '').length / 2)
    .sort((a, b) => a.edits - b.edits || a.lengthGap - b.lengthGap);
  return closest?.word;
}

/** The edit distance: letters added, dropped, changed or swapped with the next. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const changed = at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwapped ? at(row - 2, column - 2) + 1 : Infinity;
      rows[row]?.push(Math.min(changed, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(from.length, to.length);
}

/** Rejects unknown flags unless an extension may define them. */
export function checkUnknownFlags(args: CliArguments): void {
  const [name] = args.unknown.keys();
  if (name === undefined || mayBelongToExtension(args)) return;
  const known = Object.keys(flags).map((flag) => `--${flag}`);
  throw new UnknownWordError(`Unknown option: --${name}`, { word: `--${name}`, known });
}

function mayBelongToExtension(args: CliArguments): boolean {
  const opensAgent =
    args.mode !== undefined || args.print !== undefined || ['chat', undefined].includes(args.positionals[0]);
  if (!opensAgent) return false;
  const { root, cwd, project } = cliPaths(args);
  const addonOptions = { extensions: args.extension, findExtensions: args['no-extensions'] === undefined };
  return hasExtensions({ agentDir: root, cwd, settings: project.settings, options: addonOptions });
}
