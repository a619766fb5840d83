// Entry point of every launcher in bin/.
import { fstatSync, writeSync } from 'node:fs'
import { processStreams } from './stdout.ts'
import { VERSION } from './version.ts'

export function start(bin: string): void {
  const words = process.argv.slice(2)
  process.once('uncaughtException', sayFault)
  // Installers call --version in loops: it loads neither the commands nor `process.stdout`, which on a pipe loads Node's networking.
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    end(bin, printVersion())
    return
  }
  end(bin, run(bin, words))
}

/** Reports an uncaught error and exits. Node would print the source line, which in a bundle is as long as a file. */
function sayFault(error: unknown): never {
  const what = error instanceof Error ? (error.stack ?? String(error)) : String(error)
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  writeSync(2, `error: INTERNAL${code}: ${what}\n`)
  process.exit(1)
}

async function printVersion(): Promise<number> {
  await processStreams().print(VERSION)
  return 0
}

function end(bin: string, running: Promise<number>): void {
  void running
    .catch(async (error: unknown) => {
      const { report } = await import('./main.ts')
      return await report(error, bin, false, false, processStreams())
    })
    .then((code) => {
      // Not process.exit(): what is still on its way to a pipe must get out.
      process.exitCode = code
    })
}

async function run(bin: string, words: readonly string[]): Promise<number> {
  const cwd = workingFolder()
  const processes = process.env['HEIMDALL_PROCESSES']
  if (processes !== undefined) {
    const { readProcessesFrom } = await import('../processes.ts')
    readProcessesFrom(processes)
  }
  if (bin === 'heimdall' && words[0] === 'hook' && !(await isTyped())) {
    // The one fast path: hosts wait for it before every tool. They send their working folder; the hook's own may be gone.
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

/** Undefined when it was removed: most commands do not need it, and the others report it. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return undefined
    throw error
  }
}

// Not the one of errors.ts, which the answer to --version would then load.
function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
