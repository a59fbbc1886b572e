import { missingSandbox } from './working-sandbox.ts';

// Mounts an empty device over the program, for this command alone. As root of a new namespace, which needs no rights.
const HIDE_BUBBLEWRAP = `
for folder in /usr/local/bin /usr/bin /bin /run/current-system/sw/bin /nix/var/nix/profiles/default/bin; do
  test ! -e $folder/bwrap || mount --bind /dev/null $folder/bwrap || exit 99
done
exec "$@"`;

// A limit of the namespace and of all that it starts, as an administrator sets it for a machine.
const FORBID_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces || exit 99; exec "$@"';

/** A machine on which no command can be confined. */
interface MachineWithoutEngine {
  readonly machine: string;
  /** The program and arguments that run others as on such a machine. */
  readonly wrapper: readonly string[];
  /** Reasons why tau reports as missing, and the remedy. */
  readonly missing: RegExp;
}

/** Kinds of machines without a sandbox. Where this machine is one, it is the only one. */
export const machinesWithoutEngine: readonly MachineWithoutEngine[] =
  missingSandbox === undefined
    ? [
        {
          machine: 'without bubblewrap',
          wrapper: ['unshare', '--map-root-user', '--mount', 'sh', '-c', HIDE_BUBBLEWRAP, 'sh'],
          missing: /bwrap is not installed.*install bubblewrap/,
        },
        {
          machine: 'that forbids user namespaces',
          wrapper: ['unshare', '--map-root-user', 'sh', '-c', FORBID_NAMESPACES, 'sh'],
          missing: /new namespace failed.*user\.max_user_namespaces/,
        },
      ]
    : [{ machine: 'like this one', wrapper: [], missing: /bwrap|sandbox/i }];
