// A few lines of shell that outlive the shim: when it is killed without a chance to clean up, they end what it started.
import { type ChildProcess, spawn } from 'node:child_process'
import { UPSTREAM_GRACE_MS } from '../../limits.ts'
import type { ProcessId } from '../../process-table.ts'
import { markedScript } from '../../processes.ts'

/** The environment variable by which everything that an upstream starts can be found again, wherever it went. */
export const SHIM_MARK = 'HEIMDALL_SHIM_MARK'

// It reads what to end, line by line: the process group, and single processes with their start times that left it. A word
// means that all is well; the end of input without one, that the shim is dead. Then upstream gets a moment to notice the
// end of its own input, SIGTERM, the grace time, and SIGKILL; and so does everything that left the group but still carries
// the mark. A shell is a tenth of a Node process to start and to keep.
const script = (): string => `
mark=$1 grace=$2 group= runaways=
while read -r word pid start; do
  case $word in
    done) exit 0 ;;
    group) group=$pid ;;
    runaway) runaways="$runaways $pid:$start" ;;
  esac
done
found() { ${markedScript()}; }
started() { [ -r "/proc/$1/stat" ] && set -- $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) && [ "$1" != Z ] && echo "\${20}"; }
marked() {
  found "${SHIM_MARK}=$mark"
  for one in $runaways; do [ "$(started "\${one%:*}")" = "\${one#*:}" ] && echo "\${one%:*}"; done
}
alive() { [ -n "$group" ] && kill -0 "-$group" 2>/dev/null && return 0; [ -n "$(marked)" ]; }
send() { [ -n "$group" ] && kill "-$1" "-$group" 2>/dev/null; for p in $(marked); do kill "-$1" "$p" 2>/dev/null; done; }
sleep 0.3
alive || exit 0
send TERM
while [ "$grace" -gt 0 ]; do alive || exit 0; sleep 0.1; grace=$((grace - 1)); done
send KILL
`

export interface Guardian {
  /** Tells which process group to end; before that, only the mark is known. */
  watch(group: number): void
  /** A process that has left the group, and may have cleared the mark. */
  alsoWatch(runaway: ProcessId): void
  /** All has been ended by the shim itself. */
  dismiss(): void
}

export function startGuardian(mark: string, note: (line: string) => void): Guardian {
  const tenths = String(Math.ceil(UPSTREAM_GRACE_MS / 100))
  const child: ChildProcess = spawn('/bin/sh', ['-c', script(), 'heimdall-guardian', mark, tenths], {
    // A session of its own: what kills the shim's whole group must not kill its guardian.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
  })
  child.on('error', (error) => note(`no guardian: ${error.message}; a killed shim may leave its server behind`))
  child.stdin?.on('error', () => note('the guardian is gone; a killed shim may leave its server behind'))
  child.unref()
  // The pipe must not keep the shim alive either; `unref` is there on the socket that Node makes of it.
  const pipe = child.stdin as (NodeJS.WritableStream & { unref?: () => void }) | null
  pipe?.unref?.()
  return {
    watch: (group) => void child.stdin?.write(`group ${group}\n`),
    alsoWatch: ({ pid, startTicks }) => void child.stdin?.write(`runaway ${pid} ${startTicks}\n`),
    dismiss: () => void child.stdin?.end('done\n'),
  }
}
