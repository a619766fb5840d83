// What below the folder of runs is a run of ours. Everything else belongs to somebody else: it is named, and never touched.
import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isErrno, isSystemError } from '../errors.ts'
import { fileProblem, folderProblem } from '../own-folder.ts'
import { RECORD_LINE_BYTES_MAX } from '../limits.ts'
import { folderOf } from './open-run.ts'
import { parseEvent } from './recorded-event.ts'
import { openMark } from './run-close.ts'
import { checkpointPath } from './checkpoint.ts'
import { recordPath } from './run-log.ts'
import { namesInIfFolder } from '../storage/folder-names.ts'

export interface RunFolder {
  readonly runDir: string
  /** By the last event of the record: copies, backups and repairs change the times of files. */
  readonly changedMs: number
  readonly bytes: number
}

/** Something that lies among the runs and is none. */
export interface Foreign {
  readonly name: string
  readonly why: string
}

/** Runs that changed last first; what begins with a dot is neither a run nor foreign. */
export function runFolders(runsDir: string): { readonly runs: RunFolder[]; readonly foreign: Foreign[] } {
  const runs: RunFolder[] = []
  const foreign: Foreign[] = []
  for (const name of namesInIfFolder(runsDir).filter((one) => !one.startsWith('.'))) {
    const found = lookAt(join(runsDir, name))
    if (found === undefined) continue
    if ('why' in found) foreign.push(found)
    else runs.push(found)
  }
  return { runs: runs.toSorted((a, b) => b.changedMs - a.changedMs), foreign }
}

/** The folder of a run by its id; undefined when there is none. */
export function findRun(runsDir: string, runId: string): RunFolder | Foreign | undefined {
  return lookAt(join(runsDir, folderOf(runId)))
}

export function isRun(runDir: string): boolean {
  const found = lookAt(runDir)
  return found !== undefined && !('why' in found)
}

/** Undefined where nothing is. */
function lookAt(runDir: string): RunFolder | Foreign | undefined {
  const name = basename(runDir)
  try {
    const folder = fs.lstatSync(runDir, { throwIfNoEntry: false })
    if (folder === undefined) return undefined
    if (!folder.isDirectory()) return { name, why: 'not a folder' }
    const problem = folderProblem(folder, process.geteuid?.() ?? folder.uid, 'written')
    if (problem !== undefined) return { name, why: problem }
    const record = fs.lstatSync(recordPath(runDir), { throwIfNoEntry: false })
    if (record === undefined) return { name, why: 'holds no record' }
    if (!record.isFile()) return { name, why: 'its record is not a plain file' }
    const theirs = fileProblem(record)
    if (theirs !== undefined) return { name, why: `its record ${theirs}` }
    const fd = openPlain(recordPath(runDir))
    try {
      if (!isOurs(runDir, fd)) return { name, why: 'its record is not of this run' }
      const changedMs = lastEventMs(fd, record.size) ?? record.mtimeMs
      return { runDir, changedMs, bytes: bytesIn(runDir) }
    } finally {
      fs.closeSync(fd)
    }
  } catch (error) {
    // Somebody removed it meanwhile.
    if (isErrno(error, 'ENOENT')) return undefined
    if (!isSystemError(error)) throw error
    return { name, why: error.message }
  }
}

/**
 * A record begins with the start of its run; one that begins with anything else, say a copy under another name, is not
 * ours. Where the first line is torn or yet to come, the mark of an open run or a checkpoint stands for it.
 */
function isOurs(runDir: string, fd: number): boolean {
  const folder = basename(runDir)
  const short = readAt(fd, 0, HEAD_BYTES)
  const head = short.includes('\n') ? short : readAt(fd, 0, RECORD_LINE_BYTES_MAX)
  const end = head.indexOf('\n')
  const first: StartEvent | undefined = end === -1 ? undefined : parseEvent(head.toString('utf8', 0, end))
  if (first !== undefined)
    return first.type === 'run_start' && typeof first.run_id === 'string' && folderOf(first.run_id) === folder
  if (fs.lstatSync(openMark(dirname(runDir), folder), { throwIfNoEntry: false })?.isFile() === true) return true
  return fs.lstatSync(checkpointPath(runDir), { throwIfNoEntry: false })?.isFile() === true
}

interface StartEvent {
  readonly type?: unknown
  readonly run_id?: unknown
}

/** From the last line that is an event; a torn tail is passed over. Undefined where there is none. */
function lastEventMs(fd: number, size: number): number | undefined {
  // Two lines of the greatest length: the last may be torn.
  for (const length of [TAIL_BYTES, 2 * RECORD_LINE_BYTES_MAX]) {
    const from = Math.max(0, size - length)
    const lines = readAt(fd, from, size - from)
      .toString('utf8')
      .split('\n')
    for (const line of lines.toReversed()) {
      const ms = Date.parse(String(parseEvent(line)?.ts))
      if (!Number.isNaN(ms)) return ms
    }
    if (from === 0) return undefined
  }
  return undefined
}

/** Holds the last line of nearly every record. */
const TAIL_BYTES = 16 << 10
/** And the first. */
const HEAD_BYTES = 16 << 10

function readAt(fd: number, from: number, length: number): Buffer {
  const block = Buffer.alloc(length)
  return block.subarray(0, fs.readSync(fd, block, 0, length, from))
}

/** Never through a link, and never waiting for whoever writes to a pipe. */
function openPlain(path: string): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
}

/** Of everything in the folder: the record, its caches, and the recording of the terminal. */
function bytesIn(runDir: string): number {
  return namesInIfFolder(runDir).reduce((sum, name) => {
    const found = fs.lstatSync(join(runDir, name), { throwIfNoEntry: false })
    return sum + (found?.isFile() === true ? found.size : 0)
  }, 0)
}
