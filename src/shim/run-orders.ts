// What one shim of a run tells the others: that the run is over. A folder of its own, because a record changes all the time.
import { mkdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Decision } from '../policy/types.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { readFileIfThere, replaceFile } from '../storage/atomic-file.ts'

export interface RunOrders {
  /** Ends the run for all its shims. */
  terminate(decision: Decision): void
  close(): void
}

/** Calls `onTerminate` when another shim has ended the run, also when that was before this one began. Null when there is no following: no room for the folder, or too many watches on this machine. */
export function followOrders(
  runDir: string,
  onTerminate: (decision: Decision) => void,
  note: (line: string) => void,
): RunOrders | null {
  try {
    return follow(runDir, onTerminate)
  } catch (error) {
    if (!isSystemError(error)) throw error
    note(`this shim will not hear when another one ends the run: ${error.message}`)
    return null
  }
}

function follow(runDir: string, onTerminate: (decision: Decision) => void): RunOrders {
  const folder = join(runDir, 'orders')
  const path = join(folder, 'terminated.json')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const look = (): void => {
    const decision = decisionIn(readFileIfThere(path))
    if (decision !== undefined) onTerminate(decision)
  }
  const watcher = watch(folder, { persistent: false }, look)
  look()
  return {
    terminate(decision) {
      try {
        replaceFile(path, JSON.stringify(decision))
      } catch (error) {
        // On a full disk the others are not told; each still meets the counter that ended the run.
        if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      }
    },
    close: () => watcher.close(),
  }
}

/** Half a file is none yet: whoever writes it as a whole is heard by the next event of the folder. */
function decisionIn(bytes: Buffer | undefined): Decision | undefined {
  try {
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Decision)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
