// The index that a command asks: that of all runs, brought up to date as far as it goes, or one of a single file.
import { join } from 'node:path'
import { statSync } from 'node:fs'
import { HeimdallError, isErrno } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { INDEX_CATCH_UP_MS } from '../../../limits.ts'
import { type Behind, behindOf, catchUp } from '../../../runs/index/catch-up.ts'
import { EntryLines } from '../../../runs/index/entry-lines.ts'
import { indexPath, isUseless, openIndexToRead, type RunIndex, scratchIndex } from '../../../runs/index/run-index.ts'
import { search } from '../../../runs/index/search.ts'
import { knownRun } from '../../../runs/known-run.ts'
import { RecordReader } from '../../../runs/record-reader.ts'
import { runsDirOf } from '../../../paths.ts'
import { recordPath } from '../../../runs/run-log.ts'
import type { Context } from '../../command.ts'
import { size } from '../../render/size.ts'
import { ProgressLine } from '../runs/progress-line.ts'

export interface Records {
  readonly index: RunIndex
  readonly lines: EntryLines
  readonly behind: Behind
}

export interface WhichRecords {
  /** A file of events in place of the runs. */
  readonly file?: string | undefined
  /** Index everything first. */
  readonly wait?: boolean | undefined
}

/** Lets `act` ask, and closes what was opened. An index that turns out to be broken is made anew, and asked again. */
export async function withRecords<T>(
  context: Context,
  which: WhichRecords,
  act: (records: Records) => T | Promise<T>,
): Promise<T> {
  if (which.file !== undefined) return await ask(await fileRecords(context, context.resolve(which.file)), act)
  await bringUpToDate(context, which.wait === true)
  try {
    return await ask(runRecords(context), act)
  } catch (error) {
    if (!isUseless(error)) throw error
    context.note(`the run index is of no use and is made anew from the records: ${error.message}`)
    await bringUpToDate(context, true, true)
    return await ask(runRecords(context), act)
  }
}

async function ask<T>(records: Records, act: (records: Records) => T | Promise<T>): Promise<T> {
  try {
    return await act(records)
  } finally {
    records.lines.close()
    records.index.close()
  }
}

/** A disk that is full or cannot be written to is no reason not to answer from what is there. */
async function bringUpToDate({ env, clock, note, stderr }: Context, isAll: boolean, anew = false): Promise<void> {
  const progress = new ProgressLine(stderr, clock)
  try {
    const options = { runsDir: runsDirOf(env), clock, note, anew, onProgress: progress.show }
    await catchUp(isAll ? { ...options, waitMs: ALL_WAIT_MS } : { ...options, forMs: INDEX_CATCH_UP_MS })
  } catch (error) {
    if (!(error instanceof HeimdallError) || !['STORE_FULL', 'STORE_UNREADABLE'].includes(error.code)) throw error
    note(`warning: the run index cannot be brought up to date: ${error.message}`)
  } finally {
    progress.clear()
  }
}

/** For another process that indexes: as long as that takes. */
const ALL_WAIT_MS = 3_600_000

function runRecords({ env }: Context): Records {
  const runsDir = runsDirOf(env)
  const index = openIndexToRead(indexPath(runsDir)) ?? scratchIndex()
  const lines = new EntryLines((record) => recordPath(join(runsDir, record)))
  return { index, lines, behind: behindOf(index, runsDir) }
}

/** Nobody keeps it: a file outside the runs belongs to somebody else, who may do with it as they like. */
async function fileRecords({ stderr, clock }: Context, path: string): Promise<Records> {
  const bytesInAll = plainFileSize(path)
  const index = scratchIndex()
  const reader = RecordReader.ofFile(path)
  const progress = new ProgressLine(stderr, clock)
  try {
    const record = index.records.add('')
    for (;;) {
      const bytes = index.takeFrom(reader, path, record)
      if (bytes === 'gone' || bytes === 0) break
      progress.show({ runs: 0, runsInAll: 1, bytes: reader.offset, bytesInAll })
      await new Promise(setImmediate)
    }
    const missing = Math.max(0, bytesInAll - reader.offset)
    return { index, lines: new EntryLines(() => path), behind: { bytes: missing, runs: missing === 0 ? 0 : 1 } }
  } catch (error) {
    index.close()
    throw error
  } finally {
    progress.clear()
    reader.close()
  }
}

function plainFileSize(path: string): number {
  let why = 'it is no plain file'
  try {
    const stats = statSync(path)
    if (stats.isFile()) return stats.size
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error
    why = error.message
  }
  throw new HeimdallError('EVENTS_UNREADABLE', `cannot read events from ${printable(path)}: ${why}`)
}

/** A run that is asked for has to be there: nothing found would read as if it had done nothing. */
export function refuseUnknownRun(
  { index }: Records,
  context: Context,
  { run, file }: { readonly run?: string | undefined; readonly file?: string | undefined },
): void {
  if (run === undefined || search(index, { run, type: 'all', order: 'oldest', limit: 1 }).length > 0) return
  // One that has just begun may not be in the index yet.
  if (file === undefined) knownRun(runsDirOf(context.env), run)
  else throw new HeimdallError('RUN_NOT_FOUND', `no event in ${printable(file)} is of a run ${printable(run)}`)
}

/** What the records have that the answer could not know, in words; nothing when it knew all. */
export function behindText({ behind, index }: Records, isFile: boolean): string[] {
  const texts: string[] = []
  if (behind.bytes > 0)
    texts.push(
      isFile
        ? `${size(behind.bytes)} at the end of the file are no whole line`
        : `the index is behind by ${size(behind.bytes)} in ${behind.runs} ${behind.runs === 1 ? 'run' : 'runs'}; with --wait they are indexed first`,
    )
  const records = index.records.all()
  const bad = records.reduce((sum, record) => sum + record.bad_lines, 0)
  if (isFile && bad > 0)
    texts.push(`${bad} ${bad === 1 ? 'line is no event and was' : 'lines are no events and were'} passed over`)
  const newer = records.reduce((sum, record) => sum + record.newer_events, 0)
  if (newer > 0) texts.push(`${newer} events are of a newer version; what this one does not know of them is left out`)
  return texts
}
