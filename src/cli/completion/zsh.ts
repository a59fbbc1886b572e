import { commands } from '../commands.ts';
import { serverCommands } from '../server-flags.ts';
import { choosy, type Option, options } from './options.ts';

/** Completion for zsh. */
export const zsh = () => `#compdef tau
# Completion of tau for zsh: source <(tau completion zsh)
_tau() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a tau_words tau_options
  case \${words[(r)(${serverCommands.join('|')})]} in
${choosy.map((some) => `    ${some.command}) ${chosen(some.options)} ;;`).join('\n')}
    *) ${chosen(options)} ;;
  esac
  _arguments -C $tau_options '1: :->command' '*: :->rest'
  case $state in
    command)
      tau_words=(${described(commands)})
      _describe command tau_words
      ;;
    rest)
      case $line[1] in
${Object.entries(commands)
  .filter(([, { subcommands }]) => subcommands)
  .map(
    ([name, { subcommands = {} }]) => `        ${name})
          tau_words=(${described(subcommands)})
          _describe ${name} tau_words
          ;;`,
  )
  .join('\n')}
        *) _files ;;
      esac
      ;;
  esac
}
compdef _tau tau
`;

const chosen = (some: readonly Option[]) =>
  `tau_options=(\n${some.map((option) => `      ${spec(option)}\n`).join('')}    )`;

function spec({ name, short, about, ...option }: Option): string {
  const told = `[${about.replaceAll(/[[\]\\]/g, '\\$&')}]${valueSpec(option)}`;
  const long = option.takes === 'nothing' ? `--${name}` : `--${name}=`;
  if (!short) return quoted(`${long}${told}`);
  return `${quoted(`(-${short} --${name})`)}{-${short},${long}}${quoted(told)}`;
}

function valueSpec({ takes, value, choices }: Pick<Option, 'takes' | 'value' | 'choices'>): string {
  if (takes === 'nothing') return '';
  const action = { choice: `(${choices.join(' ')})`, file: '_files', folder: '_files -/', text: ' ' }[takes];
  return `:${value}:${action}`;
}

const described = (some: Readonly<Record<string, { readonly about: string }>>) =>
  Object.entries(some)
    .map(([name, { about }]) => quoted(`${name}:${about}`))
    .join(' ');

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
