// Entry point of every launcher in bin/.
import { fstatSync, writeSync } from 'node:fs'
import { isErrno } from '../errors.ts'
import { processStreams } from './stdout.ts'

export function start(bin: string): void {
  const words = process.argv.slice(2)
  process.once('uncaughtException', sayFault)
  void run(bin, words)
    .catch(async (error: unknown) => {
      const { report } = await import('./main.ts')
      return await report(error, bin, false, false, processStreams())
    })
    .then((code) => {
      // Not process.exit(), which would drop output that a pipe has not taken yet.
      process.exitCode = code
    })
}

/** Reports an uncaught error and exits. Node would print the source line, which in a bundle is as long as a file. */
function sayFault(error: unknown): never {
  const what = error instanceof Error ? (error.stack ?? String(error)) : String(error)
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  writeSync(2, `error: INTERNAL${code}: ${what}\n`)
  process.exit(1)
}

async function run(bin: string, words: readonly string[]): Promise<number> {
  const cwd = workingFolder()
  const processes = process.env['HEIMDALL_PROCESSES']
  if (processes !== undefined) {
    const { readProcessesFrom } = await import('../processes.ts')
    readProcessesFrom(processes)
  }
  if (bin === 'heimdall' && words[0] === 'hook' && !(await isTyped())) {
    // The only fast path: a host waits for its hook before every tool. The payload names the working folder; that of the
    // process may be gone.
    const folder = cwd ?? process.env['PWD'] ?? '/'
    const { hookHost, runHook } = await import('./quick-hook.ts')
    const host = hookHost(words[1])
    const isStrict = words[2] === '--strict'
    if (host !== undefined && words.length === (isStrict ? 3 : 2))
      return await runHook(host, isStrict, process.env, folder)
  }
  const { main } = await import('./main.ts')
  return await main(bin, words, process.env, cwd, processStreams())
}

/** Stdin is a terminal. A pipe or a file, as hosts use, is recognised without `node:tty`, which loads Node's networking. */
async function isTyped(): Promise<boolean> {
  if (!fstatSync(0).isCharacterDevice()) return false
  const { isatty } = await import('node:tty')
  return isatty(0)
}

/** Undefined when it no longer exists: most commands do not need it, and the others report it. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES')) return undefined
    throw error
  }
}
