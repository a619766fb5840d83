// `sub shim` and `heimdall mcp shim` in the test's own process: the same command as in `bin/`, with streams and signals of its own.
import { EventEmitter } from 'node:events'
import { PassThrough, type Readable, Transform, type Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { contextFor } from '../../src/cli/context.ts'
import { shimOf } from '../../src/cli/commands/shim.ts'
import { findCommand } from '../../src/cli/find-command.ts'
import { commandsFor } from '../../src/cli/nouns.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { EarlySignals } from '../../src/shim/early-signals.ts'
import { onTestFinished } from './cleanup.ts'
import './in-process.ts'
import { bareEnv, type Ending, type Program } from './programs.ts'
import { runOverHttp } from './shim-over-http.ts'

/** A shim in a process of its own, or in that of the test. */
export interface ShimProgram extends Pick<Program, 'stdout' | 'stderr' | 'ended' | 'kill'> {
  /** Fails for a shim in the test's process. */
  readonly pid: number
  readonly stdin: Writable
  readonly stdoutStream: Readable
  readonly stderrStream: Readable
}

export interface InProcessShim {
  readonly bin: string
  /** Up to the `--` of the server. */
  readonly words: readonly string[]
  readonly server: readonly string[]
  readonly isHttp: boolean
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly clock?: Clock | undefined
}

export function startInProcess(setup: InProcessShim): ShimProgram {
  const { isHttp, server, words, cwd } = setup
  const env = { ...bareEnv(), ...setup.env }
  const [stdin, stdout, stderr] = [piped(), new PassThrough(), new PassThrough()]
  const [out, err] = [collected(stdout), collected(stderr)]
  const source = new EventEmitter()
  const signals = new EarlySignals(source)
  const run = (more: readonly string[], to: NodeJS.WritableStream, input: NodeJS.ReadableStream): Promise<number> =>
    runCommand({ ...setup, words: more, env }, { stdin: input, stdout: to, stderr }, signals)
  const exit = isHttp
    ? runOverHttp({
        server,
        options: { env, cwd },
        stdin,
        stdout,
        run(more, onAddress) {
          const printed = new PassThrough().on('data', onAddress)
          return run([...words, ...more], printed, new PassThrough())
        },
        end: () => void source.emit('SIGTERM'),
      })
    : run([...words, '--', ...server], stdout, stdin)
  const end = async (): Promise<Ending> => {
    const code = await exit
    stdout.end()
    stderr.end()
    await Promise.all([finished(stdout), finished(stderr)])
    return { code, signal: null, stdout: out(), stderr: err() }
  }
  const ended = end()
  onTestFinished(async () => {
    source.emit('SIGTERM')
    // A shim that failed has told the test, which waited for its end or for an answer.
    await ended.catch(() => {})
  })
  return {
    get pid(): number {
      throw new Error('this shim has no process: start it with `ownProcess`')
    },
    stdin,
    stdoutStream: stdout,
    stderrStream: stderr,
    stdout: out,
    stderr: err,
    ended,
    kill(signal = 'SIGTERM') {
      if (signal === 'SIGKILL') throw new Error('this shim cannot be killed: start it with `ownProcess`')
      source.emit(signal)
    },
  }
}

/** What `main` does for this command, without the end of the process. */
async function runCommand(
  { bin, words, env, cwd, clock = systemClock }: InProcessShim,
  streams: { stdin: NodeJS.ReadableStream; stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream },
  signals: EventEmitter,
): Promise<number> {
  const typed = [...(bin === 'heimdall' ? ['mcp'] : []), 'shim', ...words]
  const { found } = findCommand(await commandsFor(bin, typed[0]), bin, typed)
  if (found === undefined) throw new Error(`no command: ${bin} ${typed.join(' ')}`)
  const { command, calledAs, rest } = found
  const parsed = parseCommandLine(command.spec, calledAs, rest)
  const context = contextFor({
    calledAs,
    isSeedName: calledAs !== command.spec.names[0],
    json: false,
    globals: parsed.globals,
    env,
    cwd,
    streams: streams as Parameters<typeof contextFor>[0]['streams'],
  })
  return shimOf({ ...context, clock }, parsed as unknown as Parameters<typeof shimOf>[1], {
    signals,
    parent: process.pid,
    parentPid: () => process.pid,
  })
}

/** Arrives in pieces no larger than those of a pipe. */
function piped(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let from = 0; from < chunk.length; from += 64 << 10) this.push(chunk.subarray(from, from + (64 << 10)))
      done()
    },
  })
}

function collected(stream: PassThrough): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  return () => text
}
