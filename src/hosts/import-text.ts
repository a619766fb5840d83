// What an import makes of one configuration: which servers go behind the shim, which stay and why, and the text that comes of it.
import { applyEdits, type ConfigText, type Edit, type ServerAt } from './config-text.ts'
import { isForeignShim, shimLineOf, wordsOf } from './shim-line.ts'
import { renewEdits, type Undo, type Wrapping, wrapEdits } from './wrap.ts'

/**
 * `wrapped`: goes behind the shim now. `renewed`: was there, and its line is brought up to date. `kept`: is there.
 * `left`: stays as it is, for a reason that is said.
 */
export type ImportOutcome = 'wrapped' | 'renewed' | 'kept' | 'left'

export interface ImportedServer {
  readonly at: readonly string[]
  readonly outcome: ImportOutcome
  /** What stays unseen, and why. */
  readonly reason?: string
  readonly edits: readonly Edit[]
  readonly undo?: Undo
}

export interface ImportedText {
  readonly text: string
  readonly servers: readonly ImportedServer[]
  readonly edits: readonly Edit[]
}

/** `known`: what earlier imports wrote down. */
export function importText(config: ConfigText, known: readonly Undo[], wrapping: Wrapping): ImportedText {
  const servers = config.servers.map((server) => importServer(config, server, known, wrapping))
  const edits = servers.flatMap((server) => server.edits)
  return { text: applyEdits(config.text, edits), servers, edits }
}

function importServer(
  config: ConfigText,
  server: ServerAt,
  known: readonly Undo[],
  wrapping: Wrapping,
): ImportedServer {
  const { at, value } = server
  const left = (reason: string): ImportedServer => ({ at, outcome: 'left', reason, edits: [] })
  const { command } = value
  if (command === undefined) return left(remoteOf(value) ?? 'it has no command')
  if (typeof command !== 'string' || command === '' || server.command === undefined)
    return left('its command is not a text')
  if (wordsOf(value['args']) === undefined || (value['args'] !== undefined && server.list('args') === undefined))
    return left('its args are not a list of texts')
  const { envList } = wrapping
  if (envList !== undefined && value[envList] !== undefined && server.list(envList) === undefined)
    return left(`its ${envList} are not a list`)
  if (isForeignShim(value)) return left(`it is behind another shim, ${command}; unwrap it there first`)
  const line = shimLineOf(value)
  if (line === 'no command') return left('it starts a shim without a server behind --')
  if (line !== undefined && !line.isImported) return left('it is behind a shim that was written by hand')
  if (line !== undefined) {
    const { edits, undo } = renewEdits(config, server, line, undoFor(known, at, line.name), wrapping)
    const outcome = edits.length === 0 ? 'kept' : 'renewed'
    return { at, outcome, edits, ...(undo === undefined ? {} : { undo }) }
  }
  return { at, outcome: 'wrapped', ...wrapEdits(config, server, command, wrapping) }
}

/** What was written down of this server; after a new name was given to it, under the one that its line still says. */
export function undoFor(known: readonly Undo[], at: readonly string[], lineName?: string): Undo | undefined {
  const named = (path: readonly string[]): Undo | undefined =>
    known.find((undo) => undo.at.length === path.length && undo.at.every((key, index) => key === path[index]))
  return named(at) ?? (lineName === undefined ? undefined : named([...at.slice(0, -1), lineName]))
}

function remoteOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const url = ['url', 'httpUrl', 'serverUrl'].find((key) => typeof value[key] === 'string')
  const kind = value['type'] ?? value['transport']
  if (url === undefined && typeof kind !== 'string') return undefined
  return `it is remote (${typeof kind === 'string' ? kind : 'http'}), and its calls do not pass a shim`
}
