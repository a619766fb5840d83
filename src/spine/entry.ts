// The keeper of a run: a process of its own, started by the run's supervisor and again when it dies. Ends with 0 when there is nothing more to keep.
import { appendFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { readProcessesFrom } from '../processes.ts'
import { onDisk } from '../storage/faults.ts'
import { keepRun } from './keep-run.ts'
import { runsDirOfSheet } from './kept-run.ts'

const [, , sheet = ''] = process.argv
const log = join(runsDirOfSheet(sheet), basename(sheet, '.json'), 'keeper.log')

function note(line: string): void {
  const text = `${new Date(systemClock.wallMs()).toISOString()} ${line}\n`
  try {
    onDisk(log, () => appendFileSync(log, text, { mode: 0o600 }))
  } catch (error) {
    // Nobody reads over its shoulder, and a disk that takes no line is no reason to stop keeping.
    if (!(error instanceof HeimdallError)) throw error
  }
}

async function main(): Promise<number> {
  const processes = process.env['HEIMDALL_PROCESSES']
  if (processes !== undefined) readProcessesFrom(processes)
  try {
    const by = `the keeper of run ${basename(sheet, '.json')}`
    return (await keepRun(sheet, { env: process.env, clock: systemClock, by, note })) === 'closed' ? 0 : 1
  } catch (error) {
    note(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return 1
  }
}

void main().then((code) => process.exit(code))
