// The two reads that agents make all the time, a symbol and a fact, without the frame: the answer is one line.
import { getFact } from '../briefing/blackboard.ts'
import { openPlanning } from '../briefing/planning.ts'
import { lookUpSymbol } from '../briefing/symbols.ts'
import { systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { type Env, findProject } from '../paths.ts'

/** The value, or nothing when there is more to say than a value: then the frame is asked, and says it. */
export function readQuickly(kind: 'symbol' | 'fact', id: string, env: Env, cwd: string): string | undefined {
  const note = (line: string): void => void process.stderr.write(`${line}\n`)
  try {
    const planning = openPlanning(findProject(cwd, env), systemClock, note)
    return kind === 'symbol' ? lookUpSymbol(planning, id) : getFact(planning, id).value
  } catch (error) {
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}
