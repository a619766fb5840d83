// Whether a host session is guarded or only advised, on which rung of the ladder, and why: told from hooks that were called, never from files that say they would be.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type Trail, type TrailLine, watcherOf } from '../../coordination/trail.ts'
import { fateOf, type ProcessRef } from '../../coordination/who/process-ref.ts'
import { isErrno } from '../../errors.ts'
import type { HookCall } from '../../hosts/hooks/hook-call.ts'
import { callsOfTurn } from '../../hosts/hooks/transcript-calls.ts'
import { HOOK_TRANSCRIPT_BYTES_MAX } from '../../limits.ts'
import type { Project } from '../../paths.ts'

/** 0: told and no more. 1: edits are asked about. 2: shell commands too. 3: what is written unasked is noticed. */
export type Rung = 0 | 1 | 2 | 3

export interface Coverage {
  readonly state: 'guarded' | 'advisory'
  readonly rung: Rung
  readonly why: string
}

export function coverageOf(project: Project, { tree, lines }: Trail): Coverage {
  if (lines.length === 0)
    return { state: 'advisory', rung: 0, why: 'no hook of this session was ever called; heimdall doctor says why' }
  const missed = lines.findLast(isVerdict)?.missed ?? []
  if (missed.length > 0)
    return {
      state: 'advisory',
      rung: 0,
      why: `${missed.length} calls of the last turn passed without a hook being asked; heimdall doctor says why`,
    }
  return isWatched(project, tree)
    ? { state: 'guarded', rung: 3, why: 'edits and shell commands are checked, other writes are watched for' }
    : { state: 'guarded', rung: 2, why: 'edits and shell commands are checked before they write' }
}

/** Some process of ours, the watcher or its ledger server, watches what the session writes. */
function isWatched(project: Project, tree: ProcessRef): boolean {
  const watcher = watcherOf(project, tree)
  return watcher !== undefined && fateOf(watcher) === 'alive'
}

/** The end of a turn, where it was looked whether all calls were asked about. */
const isVerdict = ({ missed }: TrailLine): boolean => missed !== undefined

/** Calls of the turn that ends, by the host's transcript, that no hook was asked about. */
export function missedCalls({ host, transcript }: HookCall, { lines }: Pick<Trail, 'lines'>): string[] {
  if (transcript === undefined) return []
  const asked = new Set(lines.flatMap(({ event, use }) => (event === 'before-tool' && use !== undefined ? [use] : [])))
  return callsOfTurn(host, tailOf(transcript)).filter((id) => !asked.has(id))
}

/** The end of a file that somebody else writes; nothing when it is not there. */
function tailOf(path: string): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR')) return ''
    throw error
  }
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(size, HOOK_TRANSCRIPT_BYTES_MAX))
    const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString('utf8', 0, read)
  } finally {
    closeSync(fd)
  }
}
