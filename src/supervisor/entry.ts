// The launcher of a session's process: options from standard input, readiness to descriptor 3, the child's code as its own.
import { closeSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { SESSION_OPTIONS_BYTES_MAX } from '../limits.ts'
import { readProcessesFrom } from '../processes.ts'
import { parseHandover, type Readiness } from '../wire/handover.ts'
import { ANNOUNCE_ARGUMENT, READY_FD } from '../wire/launching.ts'
import { loadTerminalEarly } from './pty.ts'
import { runSession } from './run.ts'

/** Said by whoever opened the descriptor; without it, number 3 is one of Node's own. */
let isAwaited = process.argv.includes(ANNOUNCE_ARGUMENT)

function announce(readiness: Readiness): void {
  if (!isAwaited) return
  isAwaited = false
  try {
    writeSync(READY_FD, `${JSON.stringify(readiness)}\n`)
    closeSync(READY_FD)
  } catch (error) {
    if (!isErrno(error, 'EPIPE')) throw error
  }
}

function fail(error: unknown): number {
  const known =
    error instanceof HeimdallError
      ? error
      : new HeimdallError('SESSION_START_FAILED', error instanceof Error ? error.message : String(error))
  announce({ error: { code: known.code, message: known.message, hint: known.hint, details: known.details } })
  process.stderr.write(`${known.message}\n`)
  return known.entry.seedExit ?? known.entry.exit
}

async function main(): Promise<number> {
  try {
    const processes = process.env['HEIMDALL_PROCESSES']
    if (processes !== undefined) readProcessesFrom(processes)
    loadTerminalEarly()
    const line = readFileSync(0)
    if (line.length > SESSION_OPTIONS_BYTES_MAX)
      throw new HeimdallError('SESSION_OPTIONS_INVALID', `options of ${line.length} bytes`)
    const { options, holder } = parseHandover(line.toString('utf8'))
    return await runSession(options, {
      env: process.env,
      holder,
      screenWorker: join(dirname(process.argv[1] ?? ''), 'screen-worker.cjs'),
      onReady: (ready) => announce({ ready }),
    })
  } catch (error) {
    return fail(error)
  }
}

void main().then((code) => process.exit(code))
