// Command lines of the launchers, run to their end inside the test's own process: the same `main` as in `bin/`, without a start of Node.js.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { main } from '../../src/cli/main.ts'
import { bareEnv, type Ending, launcher, type ProgramOptions, runProgram } from './programs.ts'

/**
 * These get a process: they own a terminal, signals or a port, hand their standard output to git, are told from others
 * by their ancestors, answer before `main` is loaded, or end with `process.exit`.
 */
const OWN_PROCESS =
  /^(?:heimdall (?:attach|claim wait|demo|guard run|hook|mcp shim|next|open|run|session (?:attach|run)|top|up|watch|worker start|diff|task diff)|heimdall-ledger-mcp|hm (?:attach|pipe|run)|sub (?:run|shim))\b/

// The SQLite driver keeps a closed database open until its statements are collected: a process that ends need not care, a worker must.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void

// Commands that write their launcher into hooks and configurations of hosts find it here.
process.argv[1] = join(process.cwd(), 'bin/heimdall')

/** The environment is bare, as for programs. A test that is about the process itself uses `runProgram`. */
export function runLauncher(bin: string, args: readonly string[], options: ProgramOptions = {}): Promise<Ending> {
  const words = [bin, ...args.filter((word) => !word.startsWith('-'))].join(' ')
  return OWN_PROCESS.test(words) ? runProgram([...launcher(bin), ...args], options) : runInProcess(bin, args, options)
}

/** Without a process of its own, whatever the command is. */
export async function runInProcess(bin: string, args: readonly string[], options: ProgramOptions): Promise<Ending> {
  const cwd = options.cwd ?? process.cwd()
  const stdin = Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)])
  const stdout = captured()
  const stderr = captured()
  const code = await main(bin, args, { ...bareEnv(), ...options.env }, existsSync(cwd) ? cwd : undefined, {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout.stream,
    stderr: stderr.stream,
  })
  collect({ type: 'minor' })
  await nextTurn()
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() }
}

function captured(): { readonly stream: NodeJS.WriteStream; text(): string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => Buffer.concat(chunks).toString('utf8') }
}
