// From the words of a command line to an exit code: find the row, parse, load, run, print, report errors once.
import { EXIT, HeimdallError, isSystemError } from '../errors.ts'
import { escapeControls, escapeText, printable } from '../ids.ts'
import type { Env } from '../paths.ts'
import type { Answer, Command, Context, Input } from './command.ts'
import { contextFor } from './context.ts'
import { findCommand, type NotFound } from './find-command.ts'
import { commandsOf } from './launchers.ts'
import { exitOf, mannersOf } from './manners.ts'
import { GLOBAL_FLAGS, parseCommandLine } from './parse.ts'
import { safeJson } from './render/json.ts'
import { print } from './stdout.ts'

export interface Streams {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  /** Prints to stdout in a cheaper way than through its stream. */
  readonly print?: (text: string) => Promise<void>
  /** No terminal is at the end of stdout, as far as that can be told without making the stream. */
  readonly isPiped?: () => boolean
}

/** Runs one command line; `--version` alone is answered before this is loaded. `bin` is the launcher's name, `typed` what followed it. */
export async function main(
  bin: string,
  typed: readonly string[],
  env: Env,
  cwd: string | undefined,
  streams: Streams,
): Promise<number> {
  const commands = await commandsOf(bin, typed)
  const words = asHelpFlag(commands, bin, typed)
  const search = findCommand(commands, bin, words)
  const { found } = search
  const wantsJson =
    mannersOf(bin).alwaysJson === true ||
    words.slice(0, words.includes('--') ? words.indexOf('--') : undefined).includes('--json')
  try {
    if (search.found === undefined)
      return await overviewOrUnknown(commands, search.lost, { json: wantsJson, isHelp: words !== typed }, streams)
    const { command, calledAs, rest } = search.found
    const parsed = parseCommandLine(command.spec, calledAs, rest)
    if (parsed.globals.help) {
      const { commandHelp } = await import('./render/help.ts')
      return await sayHelp(streams, calledAs, commandHelp(command.spec, calledAs), parsed.globals.json)
    }
    const context = contextFor({
      calledAs,
      isSeedName: calledAs !== command.spec.names[0],
      json: parsed.globals.json || mannersOf(bin).alwaysJson === true,
      globals: parsed.globals,
      env,
      cwd,
      streams,
    })
    if (command.spec.changes === true) await (await import('./refuse-revoked.ts')).refuseRevoked(context)
    const { run } = await command.load()
    // The row and the function are a pair in the table, and `parseCommandLine` made the input from that row.
    const answer = await (run as (context: Context, input: Input) => Promise<Answer>)(context, parsed)
    await printAnswer(context, streams, answer)
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

/** `hm help run` is `hm run --help`, where `help` is no command of its own. */
function asHelpFlag(commands: readonly Command[], bin: string, typed: readonly string[]): readonly string[] {
  const own = `${bin} help`
  const isCommand = commands.some(({ spec }) => spec.names.some((name) => name === own || name.startsWith(`${own} `)))
  return typed[0] === 'help' && !isCommand ? [...typed.slice(1), '--help'] : typed
}

function say(streams: Streams, text: string): Promise<void> {
  return streams.print === undefined ? print(streams.stdout, text) : streams.print(text)
}

/** Where no command is named: the overview for whoever asks, a refusal with an offer for whoever is mistaken. */
async function overviewOrUnknown(
  commands: readonly Command[],
  { path, globals, rest }: NotFound,
  { json, isHelp }: { readonly json: boolean; readonly isHelp: boolean },
  streams: Streams,
): Promise<number> {
  const [bin = ''] = path
  const prefix = path.join(' ')
  const [next] = rest
  if (next === undefined) {
    // `heimdall` and `hm` alone are a question; any other name without its verb is a mistake.
    const isAsked =
      globals.some((word) => word === '--help' || word === '-h') ||
      (path.length === 1 && globals.length === 0 && ['heimdall', 'hm'].includes(bin))
    const [{ overviewHelp }, { ABOUT }] = await Promise.all([import('./render/help.ts'), import('./table.ts')])
    const overview = overviewHelp(commands, prefix, ABOUT)
    if (isAsked) return await sayHelp(streams, prefix, overview, json)
    if (json) throw new HeimdallError('USAGE', `a command is missing after ${prefix}`, { hint: `${prefix} --help` })
    await print(
      streams.stderr,
      await folded(streams.stderr, `error: a command is missing after ${prefix}\n\n${overview}`),
    )
    return EXIT.usage
  }
  if (next.startsWith('-'))
    throw new HeimdallError('USAGE', `unknown flag ${printable(next)} before a command`, {
      hint: `flags of a command follow its name; before it go ${Object.keys(GLOBAL_FLAGS)
        .map((flag) => `--${flag}`)
        .join(', ')}`,
    })
  const end = rest.findIndex((word) => word.startsWith('-'))
  const typed = end < 0 ? rest : rest.slice(0, end)
  const [{ suggestCommands }, { COMMANDS }] = await Promise.all([import('./suggest-command.ts'), import('./table.ts')])
  const offers = suggestCommands(COMMANDS, path, typed)
  const isTopic = isHelp && (await import('./commands/help.ts')).isTopic(typed.join(' '))
  const asTyped = isHelp ? [bin, 'help', ...path.slice(1), ...typed] : [...path, ...typed]
  throw new HeimdallError('USAGE', `unknown command: ${escapeControls(asTyped.join(' '))}`, {
    hint: isTopic
      ? `heimdall help ${typed.join(' ')} shows it`
      : offers.length === 0
        ? `${prefix} --help lists the commands`
        : `did you mean ${offers.join(', ').replace(/, ([^,]*)$/, ' or $1')}?`,
  })
}

async function sayHelp(streams: Streams, topic: string, text: string, json: boolean): Promise<number> {
  await say(
    streams,
    json
      ? safeJson({ ok: true, command: commandName(topic), data: { topic, text }, error: null })
      : await folded(streams.stdout, text),
  )
  return EXIT.ok
}

/** Help as this terminal has room for it; whole lines for a pipe. */
async function folded({ isTTY, columns }: NodeJS.WriteStream, text: string): Promise<string> {
  return isTTY && columns > 0 ? (await import('./render/fold.ts')).foldText(text, columns) : text
}

async function printAnswer(context: Context, streams: Streams, answer: Answer): Promise<void> {
  if (answer.streamed === true) return
  if (!context.json) {
    if (answer.text !== '') await say(streams, answer.text)
    return
  }
  const ok = (answer.exit ?? EXIT.ok) === EXIT.ok
  const body =
    context.isSeedName && answer.seedJson !== undefined
      ? answer.seedJson
      : { ok, command: commandName(context.calledAs), data: answer.data, error: null }
  await say(streams, safeJson(body, mannersOf(context.calledAs).jsonIndent))
}

function commandName(calledAs: string): string {
  const words = calledAs.split(' ')
  return mannersOf(calledAs).dropsLauncherName === true && words.length > 1 ? words.slice(1).join(' ') : calledAs
}

/** What the system refuses of a file is the user's affair and no bug, wherever it rose from; the room of files is loaded only then. */
async function knownError(error: unknown): Promise<HeimdallError> {
  const told =
    isSystemError(error) && error.path !== undefined
      ? (await import('../storage/faults.ts')).diskError(error.path, error)
      : error
  if (told instanceof HeimdallError) return told
  return new HeimdallError('INTERNAL', told instanceof Error ? told.message : String(told), { cause: told })
}

export async function report(
  error: unknown,
  calledAs: string,
  isSeedName: boolean,
  json: boolean,
  streams: Streams,
): Promise<number> {
  const known = await knownError(error)
  const manners = mannersOf(calledAs)
  const code = manners.errorCodes?.[known.code] ?? known.code
  if (json && known.code !== 'OUTPUT_UNWRITABLE') {
    const { message, hint, details } = known
    await say(
      streams,
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
    const message = escapeText(known.message)
    const lines = [manners.errorLine?.(code, message) ?? `error: ${message}`]
    if (known.hint !== undefined) lines.push(`hint: ${escapeText(known.hint)}`)
    if (known.code === 'INTERNAL' && error instanceof Error && error.stack !== undefined) lines.push(error.stack)
    await print(streams.stderr, lines.join('\n'))
  }
  return exitOf(known, calledAs, isSeedName)
}
