// Runs one command line: find the command, parse, run, print, report errors once.
import { isObject } from '../plain-object.ts'
import { EXIT, HeimdallError, isSystemError } from '../errors.ts'
import { escapeControls, escapeText, printable } from '../ids.ts'
import type { Env } from '../paths.ts'
import type { Answer, Command, Context, Input } from './command.ts'
import { contextFor } from './context.ts'
import { findCommand, type FoundCommand, type NotFound } from './find-command.ts'
import { exitOf, mannersOf } from './manners.ts'
import { allCommands, commandsFor } from './nouns.ts'
import { GLOBAL_FLAGS, globalFlagWords, parseCommandLine } from './parse.ts'
import { renamed } from './renames.ts'
import { safeJson } from './render/json.ts'
import { print } from './stdout.ts'
import { VERSION } from './version.ts'
import { usageError } from './usage-error.ts'

export interface Streams {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  /** Prints to stdout without its stream, which is slow to make. */
  readonly print?: (text: string) => Promise<void>
  /** Stdout is known not to be a terminal, without making the stream. */
  readonly isPiped?: () => boolean
}

/** Runs one command line: `bin` is the name of the launcher, `words` what followed it. */
export async function main(
  bin: string,
  words: readonly string[],
  env: Env,
  cwd: string | undefined,
  streams: Streams,
): Promise<number> {
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    await say(streams, VERSION)
    return EXIT.ok
  }
  // `heimdall` alone is `heimdall status`.
  const typed = bin === 'heimdall' && wordIn(words) === undefined && !asksHelp(words) ? ['status', ...words] : words
  const commands = await commandsFor(bin, wordIn(typed))
  const line = asHelpFlag(commands, bin, typed)
  const search = findCommand(commands, bin, line)
  const { found } = search
  const wantsJson = mannersOf(bin).alwaysJson === true || beforeDashes(line).includes('--json')
  try {
    if (bin === 'heimdall') refuseRenamed(line, found, commands)
    if (search.found === undefined)
      return await overviewOrUnknown(commands, search.lost, { json: wantsJson, isHelp: line !== typed }, streams)
    const { command, calledAs, rest } = search.found
    const parsed = parseCommandLine(command.spec, calledAs, rest)
    if (parsed.globals.help) {
      const { helpFor } = await import('./render/help.ts')
      return await sayHelp(streams, calledAs, helpFor(commands, calledAs), parsed.globals.json)
    }
    const context = contextFor({
      calledAs,
      isSeedName: isSeedName(calledAs),
      json: parsed.globals.json || mannersOf(bin).alwaysJson === true,
      globals: parsed.globals,
      env,
      cwd,
      streams,
    })
    if (command.spec.changes === true) await (await import('./refuse-revoked.ts')).refuseRevoked(context)
    // `command()` paired the function with the spec, and `parseCommandLine` made the input from that spec.
    const answer = await (command.run as (context: Context, input: Input) => Promise<Answer>)(context, parsed)
    await printAnswer(context, streams, answer)
    return answer.exit ?? EXIT.ok
  } catch (error) {
    return await report(error, found?.calledAs ?? bin, isSeedName(found?.calledAs ?? bin), wantsJson, streams)
  }
}

/** A name of a seed's launcher, whose output and exit codes are the seed's. */
const isSeedName = (calledAs: string): boolean => calledAs !== 'heimdall' && !calledAs.startsWith('heimdall ')

const beforeDashes = (words: readonly string[]): readonly string[] =>
  words.includes('--') ? words.slice(0, words.indexOf('--')) : words

const asksHelp = (words: readonly string[]): boolean => words.some((word) => word === '--help' || word === '-h')

/** A habit from another tool, where there is no such command. A noun without a verb shows its help. */
function refuseRenamed(line: readonly string[], found: FoundCommand | undefined, commands: readonly Command[]): void {
  const names = commands.flatMap(({ spec }) => spec.names)
  const isNoun = (line[1] ?? '-').startsWith('-') && names.some((name) => name.startsWith(`heimdall ${line[0]} `))
  const count = found === undefined ? 0 : found.calledAs.split(' ').length - 1
  const right = isNoun && count === 0 ? undefined : renamed(line, count, names)
  if (right === undefined) return
  throw usageError(`unknown command: ${escapeControls(['heimdall', ...line].join(' '))}`, escapeControls(right))
}

/** The first word that is not a global flag or its value. */
function wordIn(typed: readonly string[]): string | undefined {
  let at = 0
  for (let count = globalFlagWords(typed, at); count > 0; count = globalFlagWords(typed, at)) at += count
  return typed[at]
}

/** `hm help run` is `hm run --help`, where the launcher has no command `help`. */
function asHelpFlag(commands: readonly Command[], bin: string, typed: readonly string[]): readonly string[] {
  const own = `${bin} help`
  const isCommand = commands.some(({ spec }) => spec.names.some((name) => name === own || name.startsWith(`${own} `)))
  return typed[0] === 'help' && !isCommand ? [...typed.slice(1), '--help'] : typed
}

function say(streams: Streams, text: string): Promise<void> {
  return streams.print === undefined ? print(streams.stdout, text) : streams.print(text)
}

/** No command was named: prints the overview if it was asked for, else reports the mistake with a suggestion. */
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
    const { helpFor } = await import('./render/help.ts')
    const overview = helpFor(commands, prefix)
    if (asksHelp(globals) || (prefix === 'hm' && globals.length === 0))
      return await sayHelp(streams, prefix, overview, json)
    const missing = `a command is missing after ${prefix}`
    if (json) throw usageError(missing, `${prefix} --help`)
    await print(streams.stderr, await folded(streams.stderr, `error: ${missing}\n\n${overview}`))
    return EXIT.usage
  }
  if (next.startsWith('-'))
    throw usageError(
      `unknown flag ${printable(next)} before a command`,
      `flags of a command follow its name; before it go ${Object.keys(GLOBAL_FLAGS)
        .map((flag) => `--${flag}`)
        .join(', ')}`,
    )
  const end = rest.findIndex((word) => word.startsWith('-'))
  const typed = end < 0 ? rest : rest.slice(0, end)
  const { suggestCommand } = await import('./suggest-command.ts')
  const close = suggestCommand(await allCommands(), path, typed)
  const isTopic = isHelp && (await import('./commands/help.ts')).isTopic(typed.join(' '))
  const asTyped = isHelp ? [bin, 'help', ...path.slice(1), ...typed] : [...path, ...typed]
  throw usageError(
    `unknown command: ${escapeControls(asTyped.join(' '))}`,
    isTopic
      ? `heimdall help ${typed.join(' ')} shows it`
      : close === undefined
        ? `${prefix} --help lists the commands`
        : `did you mean ${close}?`,
  )
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

/** Folds help at the width of the terminal; a pipe gets whole lines. */
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
  const { warnings } = context
  const isExtended = warnings.length > 0 && isObject(body)
  await say(streams, safeJson(isExtended ? { ...body, warnings } : body, mannersOf(context.calledAs).jsonIndent))
}

function commandName(calledAs: string): string {
  const words = calledAs.split(' ')
  return mannersOf(calledAs).dropsLauncherName === true && words.length > 1 ? words.slice(1).join(' ') : calledAs
}

/** An error of the file system is not a bug; `storage` is loaded only then. */
async function knownError(error: unknown): Promise<HeimdallError> {
  const known =
    isSystemError(error) && error.path !== undefined
      ? (await import('../storage/faults.ts')).diskError(error.path, error)
      : error
  if (known instanceof HeimdallError) return known
  return new HeimdallError('INTERNAL', known instanceof Error ? known.message : String(known), { cause: known })
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
    const shown = { code, message, ...(hint === undefined ? {} : { hint }), ...details }
    const body = manners.failureJson?.(shown) ?? {
      ok: false,
      command: commandName(calledAs),
      data: null,
      error: shown,
    }
    await say(streams, safeJson(body, manners.jsonIndent))
  } else {
    const message = escapeText(known.message)
    const lines = [manners.errorLine?.(code, message) ?? `error: ${message}`]
    if (known.hint !== undefined) lines.push(`hint: ${escapeText(known.hint)}`)
    if (known.code === 'INTERNAL' && error instanceof Error && error.stack !== undefined) lines.push(error.stack)
    await print(streams.stderr, lines.join('\n'))
  }
  return exitOf(known, calledAs, isSeedName)
}
