// The index that a command searches: that of all runs, brought up to date as far as time allows, or one of a single file.
import { join } from 'node:path'
import { statSync } from 'node:fs'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import { INDEX_CATCH_UP_MS } from '../limits.ts'
import { type Behind, behindOf, catchUp } from '../runs/index/catch-up.ts'
import { EntryLines } from '../runs/index/entry-lines.ts'
import { indexPath, isUseless, openIndexToRead, type RunIndex, scratchIndex } from '../runs/index/run-index.ts'
import { search } from '../runs/index/search.ts'
import { knownRun } from '../runs/known-run.ts'
import { RecordReader } from '../runs/record-reader.ts'
import { runsDirOf } from '../paths.ts'
import { recordPath } from '../runs/run-log.ts'
import type { Context } from './command.ts'
import { size } from './render/size.ts'
import { ProgressLine } from './render/progress-line.ts'

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

/** Opens the index for `act` and closes it. A broken index is rebuilt, and `act` is called again. */
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
    context.note(`rebuilding the run index from the records: ${error.message}`)
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

/** With a full or read-only disk the answer comes from what is indexed already. */
async function bringUpToDate({ env, clock, note, stderr }: Context, isAll: boolean, anew = false): Promise<void> {
  const progress = new ProgressLine(stderr, clock)
  try {
    const options = { runsDir: runsDirOf(env), clock, note, anew, onProgress: progress.show }
    await catchUp(isAll ? { ...options, waitMs: ALL_WAIT_MS } : { ...options, forMs: INDEX_CATCH_UP_MS })
  } catch (error) {
    if (!(error instanceof HeimdallError) || !['STORE_FULL', 'STORE_UNREADABLE'].includes(error.code)) throw error
    note(`warning: the run index could not be updated: ${error.message}`)
  } finally {
    progress.clear()
  }
}

/** How long --wait waits for another process that indexes. */
const ALL_WAIT_MS = 3_600_000

function runRecords({ env }: Context): Records {
  const runsDir = runsDirOf(env)
  const index = openIndexToRead(indexPath(runsDir)) ?? scratchIndex()
  const lines = new EntryLines((record) => recordPath(join(runsDir, record)))
  return { index, lines, behind: behindOf(index, runsDir) }
}

/** In memory: a file outside the runs may change at any time. */
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
  let why = 'not a regular file'
  try {
    const stats = statSync(path)
    if (stats.isFile()) return stats.size
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error
    why = error.message
  }
  throw new HeimdallError('EVENTS_UNREADABLE', `cannot read events from ${printable(path)}: ${why}`)
}

/** An unknown run is an error: an empty answer would read as a run without calls. */
export function refuseUnknownRun(
  { index }: Records,
  context: Context,
  { run, file }: { readonly run?: string | undefined; readonly file?: string | undefined },
): void {
  if (run === undefined || search(index, { run, type: 'all', order: 'oldest', limit: 1 }).length > 0) return
  // A run that has just started may not be indexed yet.
  if (file === undefined) knownRun(runsDirOf(context.env), run)
  else throw new HeimdallError('RUN_NOT_FOUND', `${printable(file)} has no event of run ${printable(run)}`)
}

/** What the answer may lack, in words; empty when it is complete. */
export function behindText({ behind, index }: Records, isFile: boolean): string[] {
  const texts: string[] = []
  if (behind.bytes > 0)
    texts.push(
      isFile
        ? `the file ends in an incomplete line of ${size(behind.bytes)}`
        : `the index is behind by ${size(behind.bytes)} in ${behind.runs} ${behind.runs === 1 ? 'run' : 'runs'}; --wait indexes them first`,
    )
  const records = index.records.all()
  const bad = records.reduce((sum, record) => sum + record.bad_lines, 0)
  if (isFile && bad > 0)
    texts.push(`skipped ${bad} ${bad === 1 ? 'line that is not an event' : 'lines that are not events'}`)
  const newer = records.reduce((sum, record) => sum + record.newer_events, 0)
  if (newer > 0) texts.push(`${newer} events were written by a newer version; their unknown fields are left out`)
  return texts
}
