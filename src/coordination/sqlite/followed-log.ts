// A fleet's log as the processes of a machine follow it: one of them, for all.
import { dirname, join } from 'node:path'
import { pause, systemClock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { FLEET_LOOK_MS } from '../../limits.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import type { SharedLog } from '../shared-log.ts'

interface Follower {
  /** Of the copy. */
  readonly path: string
  readonly open: () => Promise<SharedLog>
  /** Applies what is missing, a bounded number of entries at a time; true when nothing was. */
  readonly hear: (log: SharedLog) => Promise<boolean>
}

/** Until the signal. A log that cannot be reached is followed again when it can. */
export async function followLog(
  follower: Follower,
  signal: AbortSignal,
  onFailure: (error: HeimdallError) => void,
): Promise<void> {
  const isOver = (): boolean => signal.aborted
  while (!isOver())
    try {
      // One of this machine's processes is enough: engines have few connections.
      await withFileLock(join(dirname(follower.path), 'fleet-link'), () => follow(follower, signal, onFailure), {
        waitMs: 0,
      })
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      if (error.code !== 'STORE_BUSY') onFailure(error)
      await pause(systemClock, FLEET_LOOK_MS, signal)
    }
}

/** Resolves with the signal. */
async function follow(
  { open, hear }: Follower,
  signal: AbortSignal,
  tell: (error: HeimdallError) => void,
): Promise<void> {
  const isOver = (): boolean => signal.aborted
  // It looks every two seconds: what is wrong is said once, and again when it was right in between.
  let told = ''
  const onFailure = (error: HeimdallError): void => {
    if (error.code !== told) tell(error)
    told = error.code
  }
  let isBusy = false
  let isRung = false
  const onNews = async (): Promise<void> => {
    isRung = true
    if (isBusy || isOver()) return
    isBusy = true
    try {
      const log = await open()
      while (isRung && !isOver()) {
        isRung = false
        while (!isOver() && !(await hear(log)));
        told = ''
      }
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      onFailure(error)
    } finally {
      isBusy = false
    }
  }
  const begin = async (): Promise<void> => {
    try {
      const log = await open()
      log.listen({ onNews: () => void onNews(), onFailure }, signal)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      onFailure(error)
    }
    await onNews()
  }
  await begin()
  if (!isOver()) await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
