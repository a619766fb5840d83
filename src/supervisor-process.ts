// Which process is the supervisor of a session, by its command line: in whichever place this or another version is installed.
import { basename } from 'node:path'
import type { ProcessTable } from './process-table.ts'

const RUNTIME = /^(node|bun|deno)/
const SCRIPT = /(^|\/)dist\/session\.cjs$/
const WATCHER = /(^|\/)dist\/watcher\.cjs$/

/** The id of the session that this process is the supervisor of, if it is one. */
export function supervisedBy(table: ProcessTable, pid: number): string | undefined {
  const words = table.commandWords(pid)
  const at = words.findIndex((word) => SCRIPT.test(word))
  return at < 0 || !RUNTIME.test(basename(words[0] ?? '')) ? undefined : words[at + 1]
}

/** By its command line alone, which any program may have: for systems that do not show an environment. It follows sessions and is part of none. */
export function isWatcher(table: ProcessTable, pid: number): boolean {
  const [program = '', script = ''] = table.commandWords(pid)
  return RUNTIME.test(basename(program)) && WATCHER.test(script)
}
