// Which process a client is. A socket does not tell; so it says its number, and shows that it is the one by holding the
// session's pid file open to write: only that process itself can have opened it.
import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isErrno } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import { lookUnswayed } from '../../processes.ts'
import { sessionCaller } from '../../session-caller.ts'
import type { CalledAs } from '../../wire/payloads.ts'
import type { KnownCaller } from '../streams/client-connection.ts'

/** Nothing for one that has not opened the file; where the system does not tell, it is believed. `key` is the session's. */
export function knownCaller(
  { pid, as }: CalledAs,
  { pidFile, key, env }: { readonly pidFile: string; readonly key: string; readonly env: Env },
): KnownCaller | undefined {
  const table = lookUnswayed()
  const path = realPathOf(pidFile)
  if (path === undefined || table.hasOpenToWrite(pid, path) === false) return undefined
  const { name, words, supervisorPid, key: itsKey, isAgent, actor } = sessionCaller(pid, table, env)
  return {
    name,
    words: `${as} by ${words}`,
    isAgent,
    actor,
    isOwn: supervisorPid === undefined ? itsKey !== undefined && itsKey === key : supervisorPid === process.pid,
  }
}

/** As the system names it for whoever has it open; nothing while its folder is gone. */
function realPathOf(path: string): string | undefined {
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}
