// Settings that are lists of tables: what each entry must have.
import { isObject } from './plain-object.ts'

export interface EnvEntry {
  readonly name: string
  readonly value: string
}

/** Another machine or program that tasks are sent to, or that may send some. */
export interface PeerEntry {
  readonly name: string
  readonly url: string
  /** Path of a file that only its owner can read. */
  readonly token_file: string
  readonly role: 'worker' | 'orchestrator'
}

/** Another machine of a fleet, and what ssh calls it here. */
export interface MachineEntry {
  readonly name: string
  readonly ssh: string
}

/** Nothing for what is no such list. */
export function envListOf(value: unknown): readonly EnvEntry[] | undefined {
  return listOf(value, (entry) =>
    hasTexts(entry, ['name', 'value']) ? { name: entry['name'], value: entry['value'] } : undefined,
  )
}

export function peerListOf(value: unknown): readonly PeerEntry[] | undefined {
  return listOf(value, (entry) => {
    if (!hasTexts(entry, ['name', 'url', 'token_file', 'role'])) return undefined
    const { name, url, token_file, role } = entry
    return role === 'worker' || role === 'orchestrator' ? { name, url, token_file, role } : undefined
  })
}

export function machineListOf(value: unknown): readonly MachineEntry[] | undefined {
  return listOf(value, (entry) =>
    hasTexts(entry, ['name', 'ssh']) ? { name: entry['name'], ssh: entry['ssh'] } : undefined,
  )
}

function listOf<T>(value: unknown, read: (entry: Record<string, unknown>) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const entries = value.flatMap((entry: unknown) => (isObject(entry) ? (read(entry) ?? []) : []) as T[])
  return entries.length === value.length ? entries : undefined
}

function hasTexts<K extends string>(entry: Record<string, unknown>, keys: readonly K[]): entry is Record<K, string> {
  return Object.keys(entry).length === keys.length && keys.every((key) => typeof entry[key] === 'string')
}
