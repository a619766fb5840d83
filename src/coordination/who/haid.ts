// HAIDs (seed 000 T-1): `haid:human.machine-hash4`, and `/role` for an agent below it. Derived from the project, never from the tool's folder.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'

// No `m` flag: `$` must mean the end of the text, or a HAID with a newline in it would pass.
const HAID = /^haid:([a-z0-9-]+)\.([a-z0-9-]+)-([0-9a-f]{4})(?:\/([a-z0-9][a-z0-9-]*))?$/
const HAID_CHARS_MAX = 160

export interface HaidParts {
  readonly human: string
  readonly machine: string
  readonly hash4: string
  readonly role: string | undefined
}

export function readHaid(text: string): HaidParts | undefined {
  const match = text.length <= HAID_CHARS_MAX ? HAID.exec(text) : null
  const [, human, machine, hash4, role] = match ?? []
  return human === undefined || machine === undefined || hash4 === undefined
    ? undefined
    : { human, machine, hash4, role }
}

export function parseHaid(text: string): HaidParts {
  const parts = readHaid(text)
  if (parts !== undefined) return parts
  throw invalidHaid(text)
}

export function invalidHaid(text: string): HeimdallError {
  return new HeimdallError('HAID_INVALID', `${printable(text)} is not a HAID`, {
    hint: 'a HAID looks like haid:ana.box-1f2e or haid:ana.box-1f2e/reviewer',
  })
}

export function rootOf(haid: string): string {
  const { human, machine, hash4 } = parseHaid(haid)
  return `haid:${human}.${machine}-${hash4}`
}

/** Lower case, everything outside a-z and 0-9 becomes one hyphen, at most 24 characters, none at the ends. */
export function slug(text: string): string {
  const trim = (s: string): string => s.replace(/^-+|-+$/g, '')
  return trim(trim(text.toLowerCase().replace(/[^a-z0-9]+/g, '-')).slice(0, 24))
}

export interface HaidSource {
  readonly email: string | undefined
  readonly user: string | undefined
  readonly host: string
  /** The project's root folder. */
  readonly root: string
}

/** Never malformed: what has no ASCII letter or digit in it is `unknown` instead of empty. */
export function rootHaid({ email, user, host, root }: HaidSource): string {
  const human = slug(email?.split('@')[0] ?? '') || slug(user ?? '') || 'unknown'
  const machine = machineOf(host)
  // Loaded where it is needed: reading a HAID must not cost more than the rest of a check.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash4 = createHash('sha256').update(`${human}\u001f${machine}\u001f${root}`).digest('hex').slice(0, 4)
  return `haid:${human}.${machine}-${hash4}`
}

/** A name of digits only is the first part of an address that changes with the network, and would mint a new identity each time. */
export function machineOf(host: string): string {
  const shortHost = host.split('.')[0] ?? ''
  return (/^\d+$/.test(shortHost) ? '' : slug(shortHost)) || 'unknown'
}

/** The HAID of an agent below `root`: one level only. */
export function spawnHaid(root: string, role: string): string {
  const name = slug(role)
  if (name === '')
    throw new HeimdallError('HAID_INVALID', `${printable(role)} has no letter or digit to make a role of`, {
      hint: 'name a role such as reviewer',
    })
  return `${rootOf(root)}/${name}`
}

/** The file name of a HAID in `.planning/ledger/`; two HAIDs never share one, because neither sign is allowed elsewhere in a HAID. */
export function haidFileName(haid: string): string {
  return haid.replace(/[/:]/g, '_')
}

export function trailer(haid: string): string {
  parseHaid(haid)
  return `Heimdall-Agent: ${haid}`
}
