// What one shim of a run tells the others: that the run is over. A folder of its own, because a record changes all the time.
import { mkdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isSystemError } from '../errors.ts'
import { checkOwnFolder } from '../own-folder.ts'
import { readFileIfThere, replaceFile } from '../storage/atomic-file.ts'
import { parseObject } from './run-books.ts'

export interface RunOrders {
  /** Ends the run for all its shims; `why` is for them to read. */
  terminate(why: object): void
  close(): void
}

/** Calls `onTerminate` when another shim has ended the run, also when that was before this one began. Null when there is no following: no room for the folder, or too many watches on this machine. */
export function followOrders(
  runDir: string,
  onTerminate: (why: object) => void,
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

function follow(runDir: string, onTerminate: (why: object) => void): RunOrders {
  const folder = join(runDir, 'orders')
  const path = join(folder, 'terminated.json')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkOwnFolder(folder)
  const look = (): void => {
    const bytes = readFileIfThere(path)
    // What is not whole was not written by a shim; should it become so, that is another change of the folder.
    const why = bytes === undefined ? undefined : parseObject(bytes.toString())
    if (why !== undefined) onTerminate(why)
  }
  const watcher = watch(folder, { persistent: false }, look)
  look()
  return {
    terminate(why) {
      try {
        replaceFile(path, JSON.stringify(why))
      } catch (error) {
        // On a full disk the others are not told; each still meets the counter that ended the run.
        if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      }
    },
    close: () => watcher.close(),
  }
}
