import { commands } from '../commands.ts';
import { type CompletedOption, options, restrictedCommands } from './options.ts';

/** Completion for bash 3.2 and later; macOS has 3.2. */
export const bash = () => `# Completion of tau for bash: eval "$(tau completion bash)"
_tau() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command='' i
  if [[ $current == = ]]; then current=''
  elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  case $before in
${options
  .filter(({ takes }) => takes !== 'nothing')
  .map(valueCase)
  .join('\n')}
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${spellings(options.filter(({ takes }) => takes !== 'nothing'))}) ((i++)) ;;
      -*) ;;
      *) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  if [[ $current == -* ]]; then
    case $command in
${restrictedCommands.map((some) => `      ${some.command}) ${chooseFrom(longNames(some.options))} ;;`).join('\n')}
      *) ${chooseFrom(longNames(options))} ;;
    esac
  elif [[ $current == @* ]]; then COMPREPLY=($(compgen -P @ -f -- "\${current#@}"))
  else
    case $command in
      '') COMPREPLY=($(compgen -W ${words(Object.keys(commands))} -- "$current")) ;;
${Object.entries(commands)
  .filter(([, { subcommands }]) => subcommands)
  .map(
    ([name, { subcommands = {} }]) =>
      `      ${name}) ((COMP_CWORD == i + 1)) && ${chooseFrom(Object.keys(subcommands))} ;;`,
  )
  .join('\n')}
      *) _tau_files -f "$current" ;;
    esac
  fi
}
_tau_files() {
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}
complete -F _tau tau
`;

const spellings = (some: readonly CompletedOption[]) =>
  some.flatMap(({ name, short }) => (short ? [`-${short}`, `--${name}`] : [`--${name}`])).join('|');

const longNames = (some: readonly CompletedOption[]) => some.map(({ name }) => `--${name}`);

const words = (some: readonly string[]) => `$'${some.join('\\n')}'`;

const chooseFrom = (some: readonly string[]) => `COMPREPLY=($(compgen -W ${words(some)} -- "$current"))`;

function valueCase(option: CompletedOption): string {
  const work = {
    nothing: '',
    choice: `${chooseFrom(option.choices)}; `,
    file: '_tau_files -f "$current"; ',
    folder: '_tau_files -d "$current"; ',
    text: '',
  }[option.takes];
  return `    ${spellings([option])}) ${work}return ;;`;
}
