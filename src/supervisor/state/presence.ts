// Looks now and then whether the session can still be found, and mends it where somebody has tidied its files away.
import { type Clock, type Timer } from '../../clock.ts'
import { HeimdallError, isSystemError } from '../../errors.ts'
import { PRESENCE_MS } from '../../limits.ts'
import type { SessionLog } from '../session-log.ts'
import type { SessionName } from '../session-name.ts'

export interface PresenceParts {
  readonly name: SessionName
  readonly listenAgain: (socketPath: string) => Promise<void>
  readonly clock: Clock
  readonly log: SessionLog
}

/** Until `cancel`. */
export function stayPresent({ name, listenAgain, clock, log }: PresenceParts): Timer {
  let isOver = false
  let timer: Timer
  let failure = ''
  const look = async (): Promise<void> => {
    try {
      if (await name.restore(listenAgain)) log.write('warn', 'session', 'its pid file or socket was gone: put back')
      failure = ''
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      // Once for each reason: it is tried again.
      if (error.message !== failure) log.write('error', 'session', `cannot be found any more: ${error.message}`)
      failure = error.message
    }
    if (!isOver) arm()
  }
  const arm = (): void => {
    timer = clock.after(PRESENCE_MS, () => void look(), { background: true })
  }
  arm()
  return {
    cancel: () => {
      isOver = true
      timer.cancel()
    },
  }
}
