// A merge into a checkout is on record while git is at it: one that was killed has changed files there, and before its commit git itself keeps no sign of it.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../../boot-id.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import type { Project } from '../../paths.ts'
import type { RecordedProcess } from '../../process-table.ts'
import { isStillAlive, readStat } from '../../processes.ts'
import { readFileIfThere, removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { uncommitted, unfinished } from './condition.ts'
import type { Git } from './git.ts'
import { folderOf } from './owner-record.ts'

interface Merging {
  readonly agent: string
  readonly checkout: string
  /** Where the branch was. */
  readonly before: string
  readonly by: RecordedProcess
}

const ENDING = '.merging.json'

/** The record goes when git has done it, or has taken it back; killed in between, it stays. */
export async function whileMerging<T>(
  project: Project,
  merging: Omit<Merging, 'by'>,
  act: () => Promise<T>,
): Promise<T> {
  const path = join(folderOf(project), `${merging.agent}${ENDING}`)
  const by = { pid: process.pid, startTicks: readStat(process.pid)?.startTicks, boot: bootId() }
  replaceFile(path, `${JSON.stringify({ ...merging, by })}\n`)
  try {
    return await act()
  } finally {
    removeIfThere(path)
  }
}

export interface KilledMerge {
  readonly agent: string
  readonly path: string
  /** What gives it up: nothing but what the merge has changed is put back. */
  readonly undo: string
}

/** Merges that were killed, and whose changes are still in a checkout. */
export async function killedMerges(project: Project, at: Git): Promise<KilledMerge[]> {
  const found: KilledMerge[] = []
  for (const { agent, checkout, before, by } of recorded(project)) {
    if (isStillAlive(by)) continue
    const here = { ...at, cwd: checkout }
    const isBegun = unfinished(here) === 'merge'
    const isChanged = (await uncommitted(here)).some(({ letters }) => !/^[ ?]/.test(letters))
    const undo = `git -C ${escapeControls(checkout)} ${isBegun ? 'merge --abort' : `reset --merge ${before}`}`
    if (isBegun || isChanged) found.push({ agent, path: checkout, undo })
  }
  return found
}

export function refuseKilled(killed: readonly KilledMerge[], checkout: string): void {
  const one = killed.find(({ path }) => path === checkout)
  if (one !== undefined) throw wasKilled(one)
}

export const wasKilled = ({ agent, path, undo }: KilledMerge): HeimdallError =>
  new HeimdallError('WORKTREE_UNFINISHED', `a merge of ${agent} into ${printable(path)} was killed half way`, {
    hint: `${undo} puts back what it has changed`,
  })

function recorded(project: Project): Merging[] {
  const dir = folderOf(project)
  return onDisk(dir, () => readdirSync(dir))
    .filter((name) => name.endsWith(ENDING))
    .sort()
    .flatMap((name) => parsed(readFileIfThere(join(dir, name))?.toString('utf8')) ?? [])
}

/** Nothing for what is no record of ours: then git's own state is all that is known. */
function parsed(text: string | undefined): Merging | undefined {
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text) as Partial<Merging> | null
    const isOurs = [value?.agent, value?.checkout, value?.before].every((one) => typeof one === 'string')
    return isOurs && typeof value?.by?.pid === 'number' ? (value as Merging) : undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
