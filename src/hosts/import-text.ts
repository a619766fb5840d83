// What an import makes of one configuration: which servers go behind the shim, which stay and why, and the text that comes of it.
import { applyEdits, type ConfigText, type Edit, type ServerAt } from './config-text.ts'
import { isForeignShim, isOwnLedger, shimLineOf, unpassedNames, wordsOf } from './shim-line.ts'
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
  const others = config.others.map(({ at, kind }): ImportedServer => ({
    at,
    outcome: 'left',
    reason: `it is ${kind}, and says nothing that could be started`,
    edits: [],
  }))
  const edits = servers.flatMap((server) => server.edits)
  return { text: applyEdits(config.text, edits), servers: [...servers, ...others], edits }
}

function importServer(
  config: ConfigText,
  server: ServerAt,
  known: readonly Undo[],
  wrapping: Wrapping,
): ImportedServer {
  const { at, value } = server
  const line = shimLineOf(value)
  const isImported = typeof line === 'object' && line.isImported
  const undo = isImported ? undoFor(known, at, line.name) : undefined
  const left = (reason: string): ImportedServer => ({ at, outcome: 'left', reason, edits: [], ...withUndo(undo) })
  const { command } = value
  const remote = remoteOf(value)
  if (remote !== undefined) return left(remote)
  if (command === undefined) return left('it has no command')
  if (typeof command !== 'string' || command === '' || server.command === undefined)
    return left('its command is not a text')
  if (wordsOf(value['args']) === undefined || (value['args'] !== undefined && server.list('args') === undefined))
    return left('its args are not a list of texts')
  const { envList } = wrapping
  if (envList !== undefined && value[envList] !== undefined && server.list(envList) === undefined)
    return left(`its ${envList} are not a list`)
  if (isOwnLedger(value)) return left('it is Heimdall’s own ledger')
  if (isForeignShim(value)) return left(`it is behind another shim, ${command}; unwrap it there first`)
  if (line === 'no command') return left('it starts a shim without a server behind --')
  if (line !== undefined && !line.isImported) return left('it is behind a shim that was written by hand')
  if (line !== undefined) {
    const renewal = renewEdits(config, server, line, undo, wrapping)
    const outcome = renewal.edits.length === 0 ? 'kept' : 'renewed'
    return { at, outcome, edits: renewal.edits, ...withUndo(renewal.undo), ...unpassed(value, envList) }
  }
  return { at, outcome: 'wrapped', ...wrapEdits(config, server, command, wrapping), ...unpassed(value, envList) }
}

const withUndo = (undo: Undo | undefined): Pick<ImportedServer, 'undo'> => (undo === undefined ? {} : { undo })

/** What it does not get any more, said where it happens. */
function unpassed(value: ServerAt['value'], envList: string | undefined): Pick<ImportedServer, 'reason'> {
  const names = unpassedNames(value, envList)
  if (names.length === 0) return {}
  return { reason: `it no longer gets ${names.map((name) => JSON.stringify(name)).join(', ')}, which no list can name` }
}

/** What was written down of this server; after a new name was given to it, under the one that its line still says. */
export function undoFor(known: readonly Undo[], at: readonly string[], lineName?: string): Undo | undefined {
  const named = (path: readonly string[]): Undo | undefined =>
    known.find((undo) => undo.at.length === path.length && undo.at.every((key, index) => key === path[index]))
  return named(at) ?? (lineName === undefined ? undefined : named([...at.slice(0, -1), lineName]))
}

/**
 * Some hosts go by the type, some by the address, some refuse a server that has an address and a command. What may be
 * reached without the command is not said to be behind the shim.
 */
function remoteOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const url = ['url', 'httpUrl', 'serverUrl'].find((key) => value[key] !== undefined)
  const kind = value['type'] ?? value['transport'] ?? 'stdio'
  if (url === undefined && kind === 'stdio') return undefined
  if (kind === 'stdio' && value['command'] !== undefined)
    return `it has a command and a ${url}, by which its calls may pass no shim; remove one of them`
  const name = typeof kind === 'string' && kind !== 'stdio' ? kind : 'http'
  return `it is remote (${name}), and its calls do not pass a shim`
}
