// The supervisor's own log: one line per event, beside the socket, readable by its user alone.
import { constants, closeSync, openSync, writeSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { onDisk } from '../storage/faults.ts'
import { LOG_LEVELS, type LogLevel } from './options.ts'

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
  return {
    write(level, topic, text) {
      if (!isOpen || LOG_LEVELS.indexOf(level) > rank) return
      if (options.filter !== null && !topic.startsWith(options.filter)) return
      writeSync(fd, `${new Date(options.clock.wallMs()).toISOString()} ${level} ${topic} ${text}\n`)
    },
    close() {
      isOpen = false
      closeSync(fd)
    },
  }
}
