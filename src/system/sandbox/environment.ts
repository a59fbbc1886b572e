type Environment = Readonly<Record<string, string | undefined>>;

// Credentials, and addresses of services that act for the user.
const DROPPED = new Set([
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'NPM_TOKEN',
  'NODE_AUTH_TOKEN',
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GPG_AGENT_INFO',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'DOCKER_HOST',
  'BASH_ENV',
  'ENV',
]);

const DROPPED_GROUPS = /^(AWS|DBUS)_/;

// Names by which other programs hand over secrets.
const SECRET =
  /PASSWORD|PASSWD|SECRET|(^|_)((AUTH)?TOKEN|API_?KEY|CREDENTIALS?)(_|$)|(^|_)(PASS|KEY|DSN|AUTH)$|_PWD$|^SSHPASS$/i;

// A proxy of the user is out of reach; the sandbox names its own.
const PROXIES = /^(http|https|ftp|all|no)_proxy$|^npm_config_(http_?|https_)?proxy$|^npm_config_noproxy$/i;

// Programs that fail without a cache in which they can write.
const CACHES = { npm_config_cache: '.npm', GOCACHE: '.go-build', UV_CACHE_DIR: '.uv' };

/** The environment of a confined command. `passed`: variables that stay although they look like secrets. */
export function confinedEnvironment(env: Environment, passed: readonly string[], tmp = '/tmp'): Environment {
  const kept = Object.entries(env).filter(([name]) => passed.includes(name) || !isDropped(name));
  const caches = Object.entries(CACHES).map(([name, folder]) => [name, `${tmp}/${folder}`]);
  return { ...Object.fromEntries([...caches, ...kept]), TMPDIR: tmp, TMP: tmp, TEMP: tmp };
}

/** The environment without the user's proxies. */
export const withoutProxies = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PROXIES.test(name)));

const isDropped = (name: string) => DROPPED.has(name) || DROPPED_GROUPS.test(name) || SECRET.test(name);
