import { commands } from '../commands.ts';
import { type CompletedOption, options } from './options.ts';

/** Completion for fish. */
export const fish = () =>
  [
    '# Completion of tau for fish: tau completion fish | source',
    ...Object.entries(commands).flatMap(([name, { about, subcommands = {} }]) => [
      word('__fish_use_subcommand', name, about),
      ...Object.entries(subcommands).map(([next, { about: subcommandAbout }]) =>
        word(`__fish_seen_subcommand_from ${name}`, next, subcommandAbout),
      ),
    ]),
    ...options.map(optionLine),
  ]
    .join('\n')
    .concat('\n');

const word = (when: string, name: string, about: string) =>
  `complete -c tau -n ${quoted(when)} -f -a ${quoted(name)} -d ${quoted(about)}`;

function optionLine({ name, short, about, takes, choices, notWith }: CompletedOption): string {
  // fish calls a short name of several letters an old option.
  const shortName = short ? ` -${short.length === 1 ? 's' : 'o'} ${short}` : '';
  const value = {
    nothing: '',
    choice: ` -x -a ${quoted(choices.join(' '))}`,
    file: ' -r -F',
    folder: " -x -a '(__fish_complete_directories)'",
    text: ' -x',
  }[takes];
  const when = notWith.length === 0 ? '' : ` -n ${quoted(`not __fish_seen_subcommand_from ${notWith.join(' ')}`)}`;
  return `complete -c tau${when}${shortName} -l ${name}${value} -d ${quoted(about)}`;
}

const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
