// What is checked and taken before a session may run its command: by its starter, while the session's process boots.
import { realpathSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import type { Env } from '../paths.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { removeFileLock } from '../storage/file-lock.ts'
import { checkCommand, checkLogFile } from './command.ts'
import { takeId } from './hold-id.ts'
import type { SessionOptions } from '../wire/session-options.ts'
import { ensureSessionDir } from './session-dir.ts'
import { checkSocketPath, sessionPaths } from '../wire/session-paths.ts'
import type { Holder } from '../wire/pid-file.ts'

export interface PrepareFor {
  /** Process that will run the session. */
  readonly pid: number
  readonly env: Env
  readonly clock: Clock
}

/** Throws what is in the way; otherwise the id belongs to process `pid`, and nothing of an earlier session is left. */
export async function prepareSession(options: SessionOptions, { pid, env, clock }: PrepareFor): Promise<Holder> {
  ensureSessionDir(options.socketDir, process.getuid?.() ?? 0)
  checkSocketPath(realpathSync(options.socketDir), options.id)
  checkCommand(options, { ...env, ...Object.fromEntries(options.env.map(({ name, value }) => [name, value])) })
  checkLogFile(options.logFile)
  const holder = await takeId(options.socketDir, options.id, pid, clock)
  const paths = sessionPaths(options.socketDir, options.id)
  try {
    removeIfThere(paths.exit)
    removeIfThere(paths.kept)
    removeIfThere(paths.socket)
  } catch (error) {
    // What cannot be removed is nobody's session, and neither is the id then.
    removeIfThere(paths.pid)
    removeFileLock(paths.pid)
    throw error
  }
  return holder
}
