// Whose run an id means: an agent takes part in no run that another process keeps, or that was another session's, whatever its variables say.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { hostOf, lineOf, waysUp } from '../person.ts'
import type { ProcessTable } from '../process-table.ts'
import { lookUnswayed } from '../processes.ts'
import { supervisedBy } from '../supervisor-process.ts'
import { isAlive } from './process-start.ts'
import { identityIn, totalsOf } from './run-facts.ts'

/** A person, and a program that no agent has started, may name any run. */
export function refuseRunOfAnother(runDir: string, runId: string, pid: number): void {
  const { parent, hasEnded, segment } = totalsOf(runDir)
  if (segment === 0) return
  const table = lookUnswayed()
  // Nearly always it is the run that the process was started in.
  if (parent !== null && lineOf(table, pid).includes(parent.pid) && isAlive(parent)) return
  const who = identityIn(runDir)
  const isKept = parent !== null && !hasEnded && isAlive(parent)
  if (!isKept && who?.session_id === undefined) return
  const line = [...new Set(waysUp(table, pid))]
  if (parent !== null && line.includes(parent.pid)) return
  const above = line.map((one) => runnerOf(table, one)).find((one) => one !== undefined)
  if (above === undefined) return
  const whose = who === undefined ? '' : ` of ${printable(who.agent_id)}`
  throw new HeimdallError('IDENTITY_BORROWED', `run ${printable(runId)} is${whose}, and ${above} runs this`, {
    hint: 'leave SUB_RUN_ID and --run as they are: the run that you are in is yours',
  })
}

function runnerOf(table: ProcessTable, pid: number): string | undefined {
  const session = supervisedBy(table, pid)
  return session === undefined ? hostOf(table, pid) : `session ${session}`
}
