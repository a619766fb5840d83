// A stand-in for the ssh program: runs the remote command here, in the home of "another machine", behind what a login shell says. Its lines can be cut at a byte, and the machine can be away.
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../src/errors.ts'
import { launcher } from './programs.ts'
import { temporaryFolder } from './project.ts'

export interface StandInSsh {
  /** To be added to the environment of whoever calls ssh. */
  readonly env: { readonly PATH: string }
  /** Arguments of each call so far. */
  calls(): string[]
  /** The next lines end after so many bytes, one each; later ones do not end. */
  cutAfter(bytes: readonly number[]): void
  /** Ends the lines that are open, as a lost network does. */
  cut(): void
  away(isAway: boolean): void
}

const SCRIPT = `#!/bin/sh
cd "$(dirname "$0")/../state" || exit 255
printf '%s\\n' "$*" >> calls
[ -e away ] && { echo "ssh: connect to host box port 22: Network is unreachable" >&2; exit 255; }
while [ "$1" != -- ]; do shift; done
shift 2
limit=$(head -n 1 cuts)
sed -i 1d cuts
echo $$ >> pids
export HOME=REMOTE_HOME
echo "Welcome. You have no mail."
[ -n "$limit" ] || exec setsid /bin/sh -c "$*"
# Byte by byte: head would keep them back.
/bin/sh -c "$*" | { dd bs=1 count="$limit" status=none; kill $$; }
`

/** `home`: of the machine that is reached. */
export function standInSsh(home: string): StandInSsh {
  const root = temporaryFolder()
  const [bin, state] = [join(root, 'bin'), join(root, 'state')]
  for (const folder of [bin, state]) mkdirSync(folder)
  const at = (name: string): string => join(state, name)
  for (const name of ['calls', 'cuts', 'pids']) writeFileSync(at(name), '')
  const put = (name: string, text: string): void => {
    writeFileSync(join(bin, name), text)
    chmodSync(join(bin, name), 0o755)
  }
  put('ssh', SCRIPT.replace('REMOTE_HOME', `'${home}'`))
  put('hm', `#!/bin/sh\nexec '${launcher('hm').join("' '")}' "$@"\n`)
  const lines = (name: string): string[] => readFileSync(at(name), 'utf8').split('\n').slice(0, -1)
  return {
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    calls: () => lines('calls'),
    cutAfter: (bytes) => appendFileSync(at('cuts'), bytes.map((count) => `${count}\n`).join('')),
    cut() {
      for (const pid of lines('pids')) end(Number(pid))
      writeFileSync(at('pids'), '')
    },
    away(isAway) {
      if (isAway) writeFileSync(at('away'), '')
      else if (existsSync(at('away'))) rmSync(at('away'))
    },
  }
}

function end(pid: number): void {
  try {
    // With everything that the remote command has started.
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}
