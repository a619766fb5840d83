// The watcher: one process per state folder, started by the supervisors of runs and started again when it is gone.
import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { readProcessesFrom } from '../processes.ts'
import { onDisk } from '../storage/faults.ts'
import { watchAll } from './watcher.ts'

const [, , folder = ''] = process.argv
const log = join(folder, 'watcher.log')

function note(line: string): void {
  const text = `${new Date(systemClock.wallMs()).toISOString()} ${process.pid} ${line}\n`
  try {
    onDisk(log, () => appendFileSync(log, text, { mode: 0o600 }))
  } catch (error) {
    // A disk that takes no line is no reason to stop.
    if (!(error instanceof HeimdallError)) throw error
  }
}

async function main(): Promise<number> {
  const processes = process.env['HEIMDALL_PROCESSES']
  if (processes !== undefined) readProcessesFrom(processes)
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort()).on('SIGINT', () => stop.abort())
  process.on('SIGHUP', () => undefined)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const runsDir = join(dirname(folder), 'runs')
    await watchAll({ folder, runsDir, env: process.env, clock: systemClock, note, signal: stop.signal })
    return 0
  } catch (error) {
    note(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return 1
  }
}

void main().then((code) => process.exit(code))
