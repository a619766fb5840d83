// What a command of ours has answered: its envelope, whatever its exit code.
import { HeimdallError } from '../errors.ts'

export interface CommandReply {
  readonly exit: number
  readonly data: Readonly<Record<string, unknown>>
  readonly error: { readonly code: string; readonly message: string } | null
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A held claim or a refused call is an answer. What is no envelope at all is not expected of ours. */
export function replyOf(args: readonly string[], { code, stdout, stderr }: Ended): CommandReply {
  const line = stdout.split('\n').find((text) => text.startsWith('{'))
  if (line === undefined)
    throw new HeimdallError('INTERNAL', `heimdall ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr.trim()}`)
  const { data, error } = JSON.parse(line) as {
    readonly data: CommandReply['data'] | null
    readonly error: CommandReply['error']
  }
  return { exit: code, data: data ?? {}, error }
}

/** For what has to succeed. */
export function mustSucceed(args: readonly string[], reply: CommandReply): CommandReply['data'] {
  if (reply.error !== null)
    throw new HeimdallError('INTERNAL', `heimdall ${args.slice(0, 2).join(' ')}: ${reply.error.message}`)
  return reply.data
}

/** Words, then flags with their values (`true` has none), then what follows `--`. */
export function commandLine(
  words: readonly string[],
  flags: Readonly<Record<string, string | true>>,
  rest: readonly string[] = [],
): string[] {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, value],
  )
  return [...words, ...given, ...(rest.length === 0 ? [] : ['--', ...rest])]
}

/** Before any `--` that a command line of somebody else follows. */
export function withJson([first = '', ...rest]: readonly string[]): string[] {
  return [first, '--json', ...rest]
}
