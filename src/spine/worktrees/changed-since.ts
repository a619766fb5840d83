// What a checkout differs in since a time: which commit it stood at then, and which of its uncommitted files nothing has touched since.
import fs from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isErrno } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { REFLOG_ENTRIES_MAX } from '../../limits.ts'
import { ask, askIfThere, commitOf, fieldsOf, type Git } from './git.ts'

/** Times are told from names of commits by their form. */
const TIME = /^\d{4}-\d\d-\d\dT/

export type Since = { readonly atMs: number } | { readonly commit: string }

export async function parseSince(at: Git, text: string): Promise<Since> {
  const atMs = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(atMs)) return { atMs }
  const commit = text === '' ? undefined : await commitOf(at, text)
  if (commit !== undefined) return { commit }
  throw new HeimdallError('SINCE_UNKNOWN', `${printable(text)} is neither a time nor a commit of this repository`, {
    hint: 'a time has the form 2026-11-17T13:21:00Z; a commit is anything that git rev-parse knows',
  })
}

export interface StoodAt {
  /** The empty tree, where there was none yet. */
  readonly commit: string
  /** `history`: no reflog reaches back so far, and a commit may have come to this checkout later than it was made. */
  readonly by: 'reflog' | 'history'
}

/** Where HEAD of the checkout, or what led to a commit, stood at a time; nothing where no commit was ever made. */
export async function stoodAt(at: Git, atMs: number, tip = 'HEAD'): Promise<StoodAt | undefined> {
  if ((await commitOf(at, tip)) === undefined) return undefined
  const seconds = Math.floor(atMs / 1_000)
  const words = ['log', '--walk-reflogs', `--max-count=${REFLOG_ENTRIES_MAX}`, '--date=unix', '--format=%gd %H', 'HEAD']
  const said = tip === 'HEAD' ? await askIfThere(at, [...words, '--']) : undefined
  const moves = (said ?? '').split('\n').flatMap((line) => {
    const [, when, commit] = /@\{(\d+)\} ([0-9a-f]+)$/.exec(line) ?? []
    return when === undefined || commit === undefined ? [] : [{ when: Number(when), commit }]
  })
  const stood = moves.find(({ when }) => when <= seconds)
  if (stood !== undefined) return { commit: stood.commit, by: 'reflog' }
  const last = await ask(at, ['rev-list', '--max-count=1', `--before=${seconds}`, tip, '--'])
  return { commit: last === '' ? await emptyTree(at) : last, by: 'history' }
}

const emptyTree = (at: Git): Promise<string> => ask(at, ['hash-object', '-t', 'tree', '--stdin'])

/**
 * Of files that differ in the checkout, those that were not committed since and that nothing has touched since. By the
 * time at which the file system last changed anything about a file, which unlike that of its content nobody sets: what
 * is left out is older for certain. A file that is gone stays, since nothing says when it went.
 */
export async function untouchedSince(
  at: Git,
  base: string,
  atMs: number,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const top = await ask(at, ['rev-parse', '--show-toplevel'])
  const committed = new Set(fieldsOf(await ask(at, ['diff', '--no-renames', '--name-only', '-z', base, 'HEAD', '--'])))
  return new Set(paths.filter((path) => !committed.has(path) && changedMs(join(top, path)) < atMs))
}

function changedMs(path: string): number {
  try {
    return fs.lstatSync(path).ctimeMs
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return Number.POSITIVE_INFINITY
    throw error
  }
}
