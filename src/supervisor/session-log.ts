// The supervisor's own log: one line per event, beside the socket, readable by its user alone.
import { constants, closeSync, openSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { onDisk } from '../storage/faults.ts'
import { LOG_LEVELS, type LogLevel } from '../wire/session-options.ts'
import { writeWhole } from '../storage/whole-write.ts'

export interface SessionLog {
  /** `topic` is one of a few words (`session`, `client`, `child`, `screen`); `text` is ours, never the child's. */
  write(level: LogLevel, topic: string, text: string): void
  close(): void
}

export function openSessionLog(
  path: string,
  options: { readonly level: LogLevel; readonly filter: string | null; readonly clock: Clock },
): SessionLog {
  const fd = onDisk(path, () => openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600))
  const rank = LOG_LEVELS.indexOf(options.level)
  let isOpen = true
  let lost = 0
  return {
    write(level, topic, text) {
      if (!isOpen || LOG_LEVELS.indexOf(level) > rank) return
      if (options.filter !== null && !topic.startsWith(options.filter)) return
      const at = new Date(options.clock.wallMs()).toISOString()
      // No room is no reason to end a session; the first line that fits again says how many did not.
      const missing = lost === 0 ? '' : `\n${at} error log ${lost} lines could not be written\n`
      const failure = writeWhole(fd, `${missing}${at} ${level} ${topic} ${text}\n`)
      lost = failure === undefined ? 0 : lost + 1
    },
    close() {
      isOpen = false
      closeSync(fd)
    },
  }
}
