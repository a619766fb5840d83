// From the words of a command line to an exit code: find the row, parse, load, run, print, report errors once.
import { systemClock } from '../clock.ts'
import { EXIT, HeimdallError } from '../errors.ts'
import type { Env } from '../paths.ts'
import { nearest } from '../suggest.ts'
import type { Answer, Command, Context, Input } from './command.ts'
import { mannersOf } from './manners.ts'
import { parseCommandLine } from './parse.ts'
import { commandHelp, overviewHelp } from './render/help.ts'
import { safeJson } from './render/json.ts'
import { styleFor } from './render/style.ts'
import { print } from './stdout.ts'
import { ABOUT, COMMANDS } from './table.ts'

export interface Streams {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

/** Runs one command line; `--version` alone is answered before this is loaded. `bin` is the launcher's name, `words` what followed it. */
export async function main(
  bin: string,
  words: readonly string[],
  env: Env,
  cwd: string,
  streams: Streams,
): Promise<number> {
  const found = findCommand(bin, words)
  const wantsJson =
    mannersOf(bin).alwaysJson === true ||
    words.slice(0, words.includes('--') ? words.indexOf('--') : undefined).includes('--json')
  try {
    if (found === undefined) return await overviewOrUnknown(bin, words, streams)
    const { command, calledAs, rest } = found
    const parsed = parseCommandLine(command.spec, calledAs, rest)
    if (parsed.globals.help) {
      await print(streams.stdout, commandHelp(command.spec, calledAs))
      return EXIT.ok
    }
    const context: Context = {
      // As getters: opening stdin alone costs a command that does not read it several milliseconds.
      get stdin() {
        return streams.stdin
      },
      get stdout() {
        return streams.stdout
      },
      get stderr() {
        return streams.stderr
      },
      cwd,
      env,
      clock: systemClock,
      calledAs,
      isSeedName: calledAs !== command.spec.names[0],
      json: parsed.globals.json || mannersOf(bin).alwaysJson === true,
      configFile: parsed.globals.config,
      style: styleFor(streams.stdout, env, parsed.globals.color),
      note: (line) => void streams.stderr.write(`${line}\n`),
    }
    const { run } = await command.load()
    // The row and the function are a pair in the table, and `parseCommandLine` made the input from that row.
    const answer = await (run as (context: Context, input: Input) => Promise<Answer>)(context, parsed)
    await printAnswer(context, answer)
    return answer.exit ?? EXIT.ok
  } catch (error) {
    return await report(
      error,
      found?.calledAs ?? bin,
      found !== undefined && found.calledAs !== found.command.spec.names[0],
      wantsJson,
      streams,
    )
  }
}

interface Found {
  readonly command: Command
  readonly calledAs: string
  readonly rest: readonly string[]
}

/** The longest name of the table that the command line begins with. */
function findCommand(bin: string, words: readonly string[]): Found | undefined {
  const candidates = COMMANDS.flatMap((command) =>
    command.spec.names.map((name) => ({ command, name, path: name.split(' ') })),
  )
    .filter(({ path }) => path[0] === bin && path.slice(1).every((word, i) => words[i] === word))
    .sort((a, b) => b.path.length - a.path.length)
  const [best] = candidates
  return best === undefined
    ? undefined
    : { command: best.command, calledAs: best.name, rest: words.slice(best.path.length - 1) }
}

async function overviewOrUnknown(bin: string, words: readonly string[], { stdout, stderr }: Streams): Promise<number> {
  const path = words.filter((word) => !word.startsWith('-'))
  const prefix = [bin, ...path].join(' ')
  const names = COMMANDS.flatMap(({ spec }) => spec.names)
  if (
    names.some((name) => name.startsWith(`${prefix} `)) &&
    words.every((word) => ['--help', '-h'].includes(word) || path.includes(word))
  ) {
    // `heimdall` and `hm` alone are a question; any other name without its verb is a mistake.
    const isAsked = words.length > path.length || (path.length === 0 && ['heimdall', 'hm'].includes(bin))
    const overview = overviewHelp(COMMANDS, prefix, ABOUT)
    await print(
      isAsked ? stdout : stderr,
      isAsked ? overview : `error: a command is missing after ${prefix}\n\n${overview}`,
    )
    return isAsked ? EXIT.ok : EXIT.usage
  }
  const close = nearest(
    prefix,
    names.filter((name) => name.split(' ')[0] === bin),
  )
  throw new HeimdallError('USAGE', `unknown command: ${prefix}`, {
    hint: close === undefined ? `${bin} --help lists the commands` : `did you mean ${close}?`,
  })
}

async function printAnswer(context: Context, answer: Answer): Promise<void> {
  if (answer.streamed === true) return
  if (!context.json) {
    if (answer.text !== '') await print(context.stdout, answer.text)
    return
  }
  const ok = (answer.exit ?? EXIT.ok) === EXIT.ok
  const body =
    context.isSeedName && answer.seedJson !== undefined
      ? answer.seedJson
      : { ok, command: commandName(context.calledAs), data: answer.data, error: null }
  await print(context.stdout, safeJson(body, mannersOf(context.calledAs).jsonIndent))
}

function commandName(calledAs: string): string {
  const words = calledAs.split(' ')
  return mannersOf(calledAs).dropsLauncherName === true && words.length > 1 ? words.slice(1).join(' ') : calledAs
}

async function report(
  error: unknown,
  calledAs: string,
  isSeedName: boolean,
  json: boolean,
  { stdout, stderr }: Streams,
): Promise<number> {
  const known =
    error instanceof HeimdallError
      ? error
      : new HeimdallError('INTERNAL', error instanceof Error ? error.message : String(error), { cause: error })
  const manners = mannersOf(calledAs)
  const code = manners.errorCodes?.[known.code] ?? known.code
  if (json) {
    const { message, hint, details } = known
    await print(
      stdout,
      safeJson(
        {
          ok: false,
          command: commandName(calledAs),
          data: null,
          error: { code, message, ...(hint === undefined ? {} : { hint }), ...details },
        },
        manners.jsonIndent,
      ),
    )
  } else {
    const lines = [manners.errorLine?.(code, known.message) ?? `error: ${known.message}`]
    if (known.hint !== undefined) lines.push(`hint: ${known.hint}`)
    if (known.code === 'INTERNAL' && error instanceof Error && error.stack !== undefined) lines.push(error.stack)
    await print(stderr, lines.join('\n'))
  }
  const { exit, seedExit } = known.entry
  if (manners.errorExit !== undefined) return manners.errorExit(exit)
  return isSeedName ? (seedExit ?? exit) : exit
}
