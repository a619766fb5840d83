// Wakes the shims of a run when one of them has ended it: the record says so, and an idle shim does not read it.
import { mkdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isSystemError } from '../errors.ts'
import { checkOwnFolder } from '../own-folder.ts'
import { replaceCache } from '../storage/atomic-file.ts'
import { readFold } from './read-fold.ts'

export interface RunWakeup {
  /** Has all shims of the run read its record. */
  wake(): void
  close(): void
}

/** Calls `look` when another shim of the run calls `wake`. A folder of its own is watched, because a record changes all the time. Null when it cannot be. */
export function followWakeups(runDir: string, look: () => void, note: (line: string) => void): RunWakeup | null {
  try {
    return follow(runDir, look)
  } catch (error) {
    if (!isSystemError(error)) throw error
    note(`this shim receives no notice when another one ends the run: ${error.message}`)
    return null
  }
}

/** Calls `act` when the run is ended by policy, also when it was before. */
export function onTerminated(runDir: string, act: () => void, note: (line: string) => void): RunWakeup | null {
  const look = (): void => {
    if (readFold(runDir).terminated !== null) act()
  }
  const wakeup = followWakeups(runDir, look, note)
  look()
  return wakeup
}

function follow(runDir: string, look: () => void): RunWakeup {
  const folder = join(runDir, 'wakeup')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkOwnFolder(folder)
  const watcher = watch(folder, { persistent: false }, look)
  return {
    wake() {
      try {
        replaceCache(join(folder, 'ended'), '')
      } catch (error) {
        // On a full disk the others read it with their next call.
        if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      }
    },
    close: () => watcher.close(),
  }
}
