/** Files that are known by their whole name. */
const NAMES: Readonly<Record<string, string>> = {
  '.bashrc': 'bash',
  '.env': 'ini',
  '.gitconfig': 'ini',
  '.npmrc': 'ini',
  '.profile': 'bash',
  '.zshrc': 'bash',
  'cargo.lock': 'toml',
  'nginx.conf': 'nginx',
  containerfile: 'dockerfile',
  gemfile: 'ruby',
  rakefile: 'ruby',
};

/** The language that the name of a file speaks of, as somebody would name it. */
export function languageOf(path: string): string {
  const name = path.split(/[/\\]/).at(-1)?.toLowerCase() ?? '';
  if (Object.hasOwn(NAMES, name)) return NAMES[name] ?? '';
  return name.includes('.') ? (name.split('.').at(-1) ?? '') : name;
}
