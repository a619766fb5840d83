// Values of heimdall.toml held against the type of their key; what does not fit is refused by name. Pure.
import { isObject } from './plain-object.ts'
import {
  type EnvEntry,
  envListOf,
  type MachineEntry,
  machineListOf,
  type PeerEntry,
  peerListOf,
} from './config-lists.ts'
import { HeimdallError } from './errors.ts'
import { printable } from './ids.ts'
import { checkNotify, type NotifySetting } from './notify-setting.ts'
import { nearest } from './suggest.ts'

export type KeyType =
  | 'string'
  | 'path'
  | 'integer'
  | 'boolean'
  | 'classifier'
  | 'env-list'
  | 'string-list'
  | 'peer-list'
  | 'machine-list'
  | 'notify'

/** `classifier = "claude"`, or a table with exactly one of the three names and its thresholds. */
export interface ClassifierChoice {
  readonly name: 'claude' | 'simple' | 'none'
  readonly idleThresholdMs: number
  readonly debounceMs: number
}

export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | ClassifierChoice
  | NotifySetting
  | readonly EnvEntry[]
  | readonly string[]
  | readonly PeerEntry[]
  | readonly MachineEntry[]

export const CLASSIFIERS = ['claude', 'simple', 'none'] as const
export const DEFAULT_CLASSIFIER: ClassifierChoice = { name: 'simple', idleThresholdMs: 3_000, debounceMs: 200 }

export function unknownKey(path: string, key: string, known: readonly string[]): HeimdallError {
  const close = nearest(key, known)
  return new HeimdallError('CONFIG_INVALID', `${path}: unknown key ${printable(key)}`, {
    hint: close === undefined ? `known keys: ${known.join(', ')}` : `did you mean ${close}?`,
  })
}

export function checkValue(path: string, key: string, type: KeyType, value: unknown): ConfigValue {
  switch (type) {
    case 'string':
    case 'path':
      if (typeof value === 'string') return value
      break
    case 'integer':
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
      break
    case 'boolean':
      if (typeof value === 'boolean') return value
      break
    case 'classifier':
      return checkClassifier(path, value)
    case 'notify':
      return checkNotify(path, value)
    case 'env-list': {
      const entries = envListOf(value)
      if (entries !== undefined) return entries
      throw wrongType(path, key, '[[env]] tables with a name and a value, both strings', value)
    }
    case 'peer-list': {
      const peers = peerListOf(value)
      if (peers !== undefined) return peers
      throw wrongType(path, key, '[[peers]] tables with name, url, token_file and role (worker or orchestrator)', value)
    }
    case 'machine-list': {
      const machines = machineListOf(value)
      if (machines !== undefined) return machines
      throw wrongType(path, key, '[[machines]] tables with a name and what ssh calls it (ssh)', value)
    }
    case 'string-list':
      if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value
      break
  }
  throw wrongType(path, key, type, value)
}

export function wrongType(path: string, key: string, expected: string, value: unknown): HeimdallError {
  return new HeimdallError(
    'CONFIG_INVALID',
    `${path}: ${key} must be ${expected}, got ${printable(JSON.stringify(value))}`,
  )
}

function checkClassifier(path: string, value: unknown): ClassifierChoice {
  const names: readonly string[] = CLASSIFIERS
  if (typeof value === 'string' && names.includes(value))
    return { ...DEFAULT_CLASSIFIER, name: value as ClassifierChoice['name'] }
  const entries = isObject(value) ? Object.entries(value) : []
  const [name, parameters] = entries[0] ?? []
  if (entries.length !== 1 || name === undefined || !names.includes(name) || !isObject(parameters))
    throw wrongType(path, 'classifier', `one of ${names.join(', ')}, or a table with exactly one of them`, value)
  const known = ['idle_threshold_ms', 'debounce_ms']
  for (const key of Object.keys(parameters))
    if (!known.includes(key)) throw unknownKey(path, `classifier.${name}.${key}`, known)
  const number = (key: string, fallback: number): number =>
    parameters[key] === undefined
      ? fallback
      : (checkValue(path, `classifier.${name}.${key}`, 'integer', parameters[key]) as number)
  return {
    name: name as ClassifierChoice['name'],
    idleThresholdMs: number('idle_threshold_ms', DEFAULT_CLASSIFIER.idleThresholdMs),
    debounceMs: number('debounce_ms', DEFAULT_CLASSIFIER.debounceMs),
  }
}
