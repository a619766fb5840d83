// Plans to edit config files of hosts, as text, diffs and JSON.
import type { Edit } from '../../hosts/config-text.ts'
import type { ConfigFile } from '../../hosts/config-files.ts'
import { HOST_NAMES, type HostName } from '../../hosts/host-table.ts'
import type { Planned } from '../../hosts/import-config.ts'
import { escapeControls, printable } from '../../ids.ts'
import { didYouMean } from '../../suggest.ts'
import { textDiff } from '../../hosts/text-diff.ts'
import type { Style } from './style.ts'
import { usageError } from '../usage-error.ts'

interface Server {
  readonly at: readonly string[]
  readonly outcome: string
  readonly reason?: string
  readonly unlisted?: readonly string[]
}

export function hostsNamed(words: readonly string[]): HostName[] {
  const hosts = words.map((word) => {
    const host = HOST_NAMES.find((name) => name === word)
    if (host !== undefined) return host
    throw usageError(
      `unknown host ${printable(word)}`,
      didYouMean(word, HOST_NAMES, `known hosts: ${HOST_NAMES.join(', ')}`),
    )
  })
  return [...new Set(hosts)]
}

/** One block for each file, with what happens to each server. */
export function planText(plans: readonly Planned<Server>[], words: Readonly<Record<string, string>>): string {
  return plans
    .map(({ file, servers }) =>
      [
        escapeControls(file.path),
        ...(servers.length === 0 ? ['  no servers'] : []),
        ...servers.map(({ at, outcome, reason }) =>
          escapeControls(
            `  ${(words[outcome] ?? outcome).padEnd(9)} ${nameOf(at)}${reason === undefined ? '' : `: ${reason}`}`,
          ),
        ),
      ].join('\n'),
    )
    .join('\n')
}

/** With the project, if the server is set for one project in the user's file. */
function nameOf(at: readonly string[]): string {
  const name = at.at(-1) ?? ''
  return at.length > 2 ? `${name} (${at.slice(1, -2).join('.')})` : name
}

export function diffText(plans: readonly Planned<unknown>[], style: Style): string {
  const text = plans
    .map(({ file, before, edits, hidden }) => textDiff(file.path, before, edits, hidden))
    .filter((diff) => diff !== '')
    .join('\n')
  // Comments in a cloned repository may contain terminal sequences.
  return style.isTty ? text.split('\n').map(escapeControls).join('\n') : text
}

export function fileData<S extends Server>({ file, before, edits, hidden, servers }: Planned<S>): object {
  return {
    host: file.host,
    path: file.path,
    level: file.level,
    changed: edits.length > 0,
    diff: textDiff(file.path, before, edits, hidden),
    servers: servers.map(({ at, outcome, reason, unlisted }) => ({
      name: at.at(-1),
      at,
      outcome,
      ...(unlisted === undefined ? {} : { unlisted }),
      ...(reason === undefined ? {} : { reason }),
    })),
  }
}

export const isChanged = ({ edits }: { readonly edits: readonly Edit[] }): boolean => edits.length > 0

export const isUnasked = ({ level }: ConfigFile, isShared: boolean): boolean => level === 'project' && !isShared
