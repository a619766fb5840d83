// The planning folder as seed 000 lays it out, made or repaired: nothing that is there is lost.
import { join } from 'node:path'
import { openAppendLog } from '../storage/append-log.ts'
import { ensureFolder, replaceFile } from '../storage/atomic-file.ts'
import { BASELINES } from './baselines.ts'
import { BLACKBOARD } from './blackboard.ts'
import { publishedSchema } from './messages.ts'
import { pathToWrite } from '../storage/planning-folder.ts'
import { FILES, type Planning } from './planning.ts'
import { modeOf, updateTable } from './state-file.ts'
import { SYMBOLS } from './symbols.ts'

export interface PlanningPaths extends Readonly<Record<keyof typeof FILES, string>> {
  readonly protocol: string
}

export async function initPlanning(planning: Planning): Promise<PlanningPaths> {
  // Written anew also when it is there: that stamps the version and sets a corrupt file aside.
  await updateTable(planning, SYMBOLS, () => true)
  await updateTable(planning, BLACKBOARD, () => true)
  await updateTable(planning, BASELINES, () => true)
  openAppendLog(pathToWrite(planning, FILES.ledger), { mode: 0o644 }).close()
  ensureFolder(pathToWrite(planning, FILES.capsules))
  const schema = pathToWrite(planning, FILES.schema)
  replaceFile(schema, `${JSON.stringify(publishedSchema(), null, 2)}\n`, { mode: modeOf(schema) })
  const protocol = join(planning.dir, 'protocol')
  planning.log('protocol', 'init', protocol)
  const paths = Object.fromEntries(Object.entries(FILES).map(([name, file]) => [name, join(planning.dir, file)]))
  return { ...(paths as Record<keyof typeof FILES, string>), protocol }
}
