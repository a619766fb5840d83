// Which secrets a server gets, and as which variables (seed 004 §4.1): read from a file or a variable, in any of the origin's four shapes.
import { readFileSync, statSync } from 'node:fs'
import { canonicalHash } from '../../canonical/canonical.ts'
import { HeimdallError, isSystemError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { SECRET_BINDINGS_BYTES_MAX, SECRET_BINDINGS_MAX } from '../../limits.ts'
import { isObject } from '../../plain-object.ts'
import { headerOf, type Into, whyNotInjectable } from './injectable.ts'
import type { BindingsOrigin } from './origin.ts'

export const SECRET_SOURCES = ['env', 'file', 'keychain'] as const
type SecretSource = (typeof SECRET_SOURCES)[number]

export interface Binding {
  readonly inject_as: string
  readonly secret_ref: string
  readonly source: SecretSource
  /** False: its value is no secret to those who read previews. */
  readonly redact: boolean
}

export interface Bindings {
  readonly bindings: readonly Binding[]
  /** What servers of other names take from the environment, which is then not this server's. */
  readonly refsOfOthers: readonly string[]
  /** Nothing is bound while there is one; a line each. */
  readonly problems: readonly string[]
  /** The bindings are for servers of other names alone. */
  readonly isForOthers: boolean
}

/** What may name a secret: it becomes a key in a store, a name of a variable, an argument of a keychain's program. */
export const SECRET_REF = /^[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,127}$/
export const SECRET_REF_RULE = '1 to 128 letters, digits and _ . : / @ -, with a letter, digit or underscore first'

const FIELDS: ReadonlySet<string> = new Set(['inject_as', 'secret_ref', 'source', 'redact'])
const SERVER_FIELDS: ReadonlySet<string> = new Set(['server_name', 'secret_bindings'])

export function readBindings(origin: BindingsOrigin, serverName: string, into: Into): Bindings {
  if (origin.kind === 'none') return { bindings: [], refsOfOthers: [], problems: [], isForOthers: false }
  const name = origin.kind === 'file' ? origin.path : origin.name
  try {
    const text = origin.kind === 'file' ? readText(origin.path) : origin.text
    return boundTo(serverName, serversOf(parsed(text)), name, into)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return { bindings: [], refsOfOthers: [], problems: [`${name}: ${error.message}`], isForOthers: false }
  }
}

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > SECRET_BINDINGS_BYTES_MAX) throw invalid(`has ${size} bytes, limit ${SECRET_BINDINGS_BYTES_MAX}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw invalid(`cannot be read: ${error.message}`)
  }
}

function parsed(text: string): unknown {
  try {
    // Reads it by the strict grammar: of a key that stands twice, nobody would know which counts.
    canonicalHash(text)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof HeimdallError) throw invalid(`is not JSON that can be used: ${error.message}`)
    throw error
  }
}

/** The bindings of one server, unread; without a name they are for every server. */
interface ServerBindings {
  readonly serverName: string | null
  readonly bindings: readonly unknown[]
  readonly at: string
}

function serversOf(value: unknown): readonly ServerBindings[] {
  if (Array.isArray(value)) {
    const isOfServers = value.some((one) => isObject(one) && ('secret_bindings' in one || 'server_name' in one))
    if (!isOfServers) return [{ serverName: null, bindings: value, at: '' }]
    return value.map((one, index) => namedServer(one, `[${index}]`))
  }
  if (!isObject(value)) throw invalid(`is ${kindOf(value)}; bindings are an array or an object`)
  if ('secret_bindings' in value) return [namedServer(value, '')]
  return Object.entries(value).map(([name, bindings]) => {
    if (!Array.isArray(bindings)) throw invalid(`${printable(name)} is ${kindOf(bindings)}, not an array of bindings`)
    return { serverName: name, bindings, at: `.${name}` }
  })
}

function namedServer(value: unknown, at: string): ServerBindings {
  if (!isObject(value)) throw invalid(`${at} is ${kindOf(value)}, not the bindings of a server`)
  const unknownKey = Object.keys(value).find((key) => !SERVER_FIELDS.has(key))
  if (unknownKey !== undefined) throw invalid(`${at} has an unknown field ${printable(unknownKey)}`)
  const { server_name: name = '', secret_bindings: bindings } = value
  if (typeof name !== 'string') throw invalid(`${at}.server_name is ${kindOf(name)}, not a text`)
  if (!Array.isArray(bindings)) throw invalid(`${at}.secret_bindings is ${kindOf(bindings)}, not an array`)
  return { serverName: name === '' ? null : name, bindings, at: `${at}.secret_bindings` }
}

/** The first that names the server or none; what stands in those of others is theirs to complain about. */
function boundTo(serverName: string, servers: readonly ServerBindings[], name: string, into: Into): Bindings {
  const own = servers.find((server) => server.serverName === null || server.serverName === serverName)
  const refsOfOthers = servers
    .filter((server) => server !== own)
    .flatMap(({ bindings }) => bindings)
    .flatMap((binding) =>
      isObject(binding) && (binding['source'] ?? 'env') === 'env' && typeof binding['secret_ref'] === 'string'
        ? [binding['secret_ref']]
        : [],
    )
  const read = (own?.bindings ?? []).map((binding, index) => readBinding(binding, `${own?.at ?? ''}[${index}]`, into))
  const bindings = read.flatMap((one) => (typeof one === 'string' ? [] : [one]))
  const problems = read.filter((one) => typeof one === 'string').concat(repeated(bindings))
  if (read.length > SECRET_BINDINGS_MAX) problems.push(`${read.length} bindings, limit ${SECRET_BINDINGS_MAX}`)
  return {
    bindings: problems.length > 0 ? [] : bindings,
    refsOfOthers,
    problems: problems.map((problem) => `${name}: ${problem}`),
    isForOthers: own === undefined && servers.length > 0,
  }
}

/** Or what is wrong with it. A text of the file may be a value that somebody put in the wrong place: only names are quoted. */
function readBinding(value: unknown, at: string, into: Into): Binding | string {
  if (!isObject(value)) return `${at} is ${kindOf(value)}, not a binding`
  const unknownKey = Object.keys(value).find((key) => !FIELDS.has(key))
  if (unknownKey !== undefined) return `${at} has an unknown field ${printable(unknownKey)}; known: ${known(FIELDS)}`
  const { inject_as: injectAs, secret_ref: ref, source = 'env', redact = true } = value
  if (typeof injectAs !== 'string') return `${at}.inject_as is ${kindOf(injectAs)}, not the name of a variable`
  const why = whyNotInjectable(injectAs, into)
  if (why !== null) return `${at}.inject_as ${printable(injectAs)} ${why}`
  if (typeof ref !== 'string') return `${at}.secret_ref is ${kindOf(ref)}, not the name of a secret`
  if (!SECRET_REF.test(ref)) return `${at}.secret_ref is no name of a secret: ${SECRET_REF_RULE}`
  const found = SECRET_SOURCES.find((one) => one === source)
  if (found === undefined)
    return `${at}.source is ${typeof source === 'string' ? printable(source) : kindOf(source)}; known: ${known(SECRET_SOURCES)}`
  if (typeof redact !== 'boolean') return `${at}.redact is ${kindOf(redact)}, not true or false`
  return { inject_as: injectAs, secret_ref: ref, source: found, redact }
}

function repeated(bindings: readonly Binding[]): readonly string[] {
  const names = bindings.map(({ inject_as: name }) => headerOf(name)?.toLowerCase() ?? name)
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map(
    (name) => `${name} is bound twice`,
  )
}

const known = (names: Iterable<string>): string => [...names].join(', ')

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`
}

const invalid = (message: string): HeimdallError => new HeimdallError('CONFIG_INVALID', message)
