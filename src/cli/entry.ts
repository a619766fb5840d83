// Where every launcher of bin/ comes in.
import { fstatSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type EarlyNames, launchEarly, launchRunEarly } from './early-session.ts'
import { sessionEnvironment } from './session-environment.ts'
import { processStreams } from './stdout.ts'
import { VERSION } from './version.ts'

export function start(bin: string): void {
  const words = process.argv.slice(2)
  process.once('uncaughtException', sayFault)
  // Probes and installers ask for the version in loops: it waits neither for the table of all commands nor for
  // `process.stdout`, which on a pipe loads all of Node's networking.
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    end(bin, printVersion())
    return
  }
  end(bin, run(bin, words))
}

/**
 * A fault of ours that rose past every frame. Node would print the line of source that it came from, and built that line
 * is as long as a file. Nothing goes on after it: whatever was under way may be half done.
 */
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
  const scopes = quickScopes(bin, words)
  if (scopes !== undefined && cwd !== undefined) {
    // Hooks ask before every edit, and nearly always nobody is in the way: that answer needs no table of commands.
    const { isClear, clearText } = await import('./quick-check.ts')
    if (await isClear(scopes, process.env, cwd)) {
      await processStreams().print(clearText(scopes))
      return 0
    }
  }
  if (bin === 'heimdall' && words[0] === 'hook' && !(await isTyped())) {
    // Hosts wait for this before every tool, and say themselves where they work: the folder of the hook may be gone.
    const folder = cwd ?? process.env['PWD'] ?? '/'
    const { hookHost, runHook } = await import('./quick-hook.ts')
    const host = hookHost(words[1])
    const isStrict = words[2] === '--strict'
    if (host !== undefined && words.length === (isStrict ? 3 : 2))
      return await runHook(host, isStrict, process.env, folder)
  }
  const read = quickRead(bin, words)
  if (read !== undefined && cwd !== undefined) {
    const { readQuickly } = await import('./quick-read.ts')
    const value = readQuickly(read.kind, read.id, process.env, cwd)
    if (value !== undefined) {
      await processStreams().print(value)
      return 0
    }
  }
  if (bin === 'heimdall' && cwd !== undefined && words.join(' ') === 'guard run pre-commit') {
    // A person waits for every commit, and nearly always nobody else holds what is in it.
    const { isCommitClear } = await import('./quick-guard.ts')
    if (await isCommitClear(process.env, cwd)) {
      await processStreams().print('clear')
      return 0
    }
  }
  const session = sessionToRun(bin, words)
  if (session !== undefined) {
    // Node's own start is most of a session's: it begins before the rest of the command line is looked at.
    const env = await sessionEnvironment(process.env)
    launchEarly(session, { launcher: join(import.meta.dirname, 'session.cjs'), env })
  }
  const wanted = runToStart(bin, words)
  if (wanted !== undefined) {
    const { environmentOfNobody } = await import('../spine/run-environment.ts')
    const names = wanted.id === undefined ? await madeUp() : { id: wanted.id, agent: undefined }
    launchRunEarly(names, {
      launcher: join(import.meta.dirname, 'session.cjs'),
      env: environmentOfNobody(process.env),
    })
  }
  const { main } = await import('./main.ts')
  return await main(bin, words, process.env, cwd, processStreams())
}

/** A person sits at the other end. A pipe or a file, as hosts use, is told without `node:tty`, which loads all of Node's networking. */
async function isTyped(): Promise<boolean> {
  if (!fstatSync(0).isCharacterDevice()) return false
  const { isatty } = await import('node:tty')
  return isatty(0)
}

/** Nothing when it was removed: most commands do not need it, and those that do say so. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return undefined
    throw error
  }
}

/** The scopes of a plain `claim check SCOPE…`; with a flag of any kind the frame is asked. */
function quickScopes(bin: string, words: readonly string[]): readonly string[] | undefined {
  const scopes =
    bin === 'heimdall' && words[0] === 'claim' && words[1] === 'check'
      ? words.slice(2)
      : bin === 'heimdall-claim' && words[0] === 'check'
        ? words.slice(1)
        : []
  return scopes.length === 0 || scopes.some((scope) => scope.startsWith('-')) ? undefined : scopes
}

/** A plain `symbol get ID` or `fact get KEY`, by either name. */
function quickRead(bin: string, words: readonly string[]): { kind: 'symbol' | 'fact'; id: string } | undefined {
  const line = [bin, ...words]
  const id = line.pop()
  if (id === undefined || id.startsWith('-')) return undefined
  const asked = line.join(' ')
  if (asked === 'heimdall symbol get') return { kind: 'symbol', id }
  if (asked === 'heimdall-resolve' && !['set', 'list', 'rm', 'import'].includes(id)) return { kind: 'symbol', id }
  return asked === 'heimdall fact get' || asked === 'heimdall-blackboard get' ? { kind: 'fact', id } : undefined
}

/** The id in `run … --id ID … -- COMMAND…`, unless it is help that is asked for. */
function sessionToRun(bin: string, words: readonly string[]): string | undefined {
  const flags = words.slice(0, Math.max(0, words.indexOf('--')))
  const asked = bin === 'hm' ? flags[0] === 'run' : bin === 'heimdall' && flags[0] === 'session' && flags[1] === 'run'
  if (!asked || flags.includes('--help') || flags.includes('-h')) return undefined
  const at = flags.indexOf('--id')
  return at === -1 ? undefined : flags[at + 1]
}

/** What `heimdall run … -- COMMAND…` will most likely call its session; without an id, it is made up. */
function runToStart(bin: string, words: readonly string[]): { readonly id: string | undefined } | undefined {
  const flags = words.slice(0, Math.max(0, words.indexOf('--')))
  if (bin !== 'heimdall' || flags[0] !== 'run' || flags.includes('--help') || flags.includes('-h')) return undefined
  return { id: valueOf(flags, '--id') ?? valueOf(flags, '--agent') }
}

function valueOf(flags: readonly string[], name: string): string | undefined {
  const at = flags.findIndex((flag) => flag === name || flag.startsWith(`${name}=`))
  return at === -1 ? undefined : flags[at] === name ? flags[at + 1] : flags[at]?.slice(name.length + 1)
}

/** Whether the name is free is seen when it is registered. */
async function madeUp(): Promise<EarlyNames> {
  const { freeName } = await import('../coordination/who/names.ts')
  const agent = freeName(() => false, Math.random)
  return { id: agent, agent }
}

// Not the one of errors.ts, which the answer to --version would then load.
function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
