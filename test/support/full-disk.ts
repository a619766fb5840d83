// A disk with no room left: a small one in memory, seen by one command and its children alone.
import { needs } from './needs.ts'
import { type Ending, launcher, type ProgramOptions, runProgram } from './programs.ts'

/** Mounted over the folder with what lies in it, and filled up; `read-only` leaves the room and takes the right to write. */
const MOUNT = {
  full: `head -c 67108864 /dev/zero > "$0/ballast" 2>/dev/null`,
  // `bind` makes the mount read-only, not the file system: a user namespace may do no more.
  'read-only': `mount -o remount,bind,ro "$0"`,
} as const

export function runOnDisk(
  kind: keyof typeof MOUNT,
  folder: string,
  args: readonly string[],
  { cwd = folder, ...options }: ProgramOptions = {},
): Promise<Ending> {
  needs('right to mount')
  const script =
    'kept=$(mktemp -d) && cp -a "$0/." "$kept" && mount -t tmpfs -o size=4m none "$0" && cp -a "$kept/." "$0" && ' +
    `rm -r "$kept" && { ${MOUNT[kind]}; cd "$CWD"; exec "$@"; }`
  return runProgram(
    ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, folder, ...launcher('heimdall'), ...args],
    { ...options, env: { ...options.env, CWD: cwd } },
  )
}
