// The checkpoint of a run: a cache of the fold over its record. One that does not fit the record is not used.
import { hash } from 'node:crypto'
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { HeimdallError, isErrno, isSystemError } from '../errors.ts'
import { readFileIfThere, replaceCache } from '../storage/atomic-file.ts'
import { parseObject } from './recorded-event.ts'
import { RunFold, type SavedFold } from './run-fold.ts'

const VERSION = 1
/** What stands in the record before the place that a checkpoint is of; another record does not have the same there. */
const ANCHOR_BYTES = 512

/** The first line; the second one is the fold. */
interface Head {
  readonly v: typeof VERSION
  readonly run: string
  /** Bytes of the record that the checkpoint covers. */
  readonly bytes: number
  readonly anchor: string
  /** A human was asked. */
  readonly asks: boolean
  /** Of the second line. */
  readonly hash: string
}

export interface Checkpoint {
  readonly bytes: number
  readonly fold: RunFold
}

export const checkpointPath = (runDir: string): string => join(runDir, 'checkpoint.json')

/** Undefined where there is none, or none that fits the record in `fd`: torn, stale, of another run, or of another version. */
export function readCheckpoint(runDir: string, fd: number): Checkpoint | undefined {
  const [first = '', second = ''] = textOf(checkpointPath(runDir)).split('\n')
  const head = headIn(runDir, first)
  if (head === undefined || head.hash !== hash('sha256', second)) return undefined
  const { bytes } = head
  if (bytes > fs.fstatSync(fd).size || head.anchor !== anchorOf(fd, bytes)) return undefined
  return { bytes, fold: new RunFold(parseObject(second) as SavedFold) }
}

/** The first line alone, for those who ask whether there is anything to read. */
export function readCheckpointHead(runDir: string): Head | undefined {
  return headIn(runDir, textOf(checkpointPath(runDir)).split('\n', 1)[0] ?? '')
}

function headIn(runDir: string, line: string): Head | undefined {
  const head: Partial<Head> | undefined = parseObject(line)
  const isOurs = head?.v === VERSION && head.run === basename(runDir)
  return isOurs && Number.isSafeInteger(head.bytes) && Number(head.bytes) >= 0 ? (head as Head) : undefined
}

/** A file that cannot be read is no checkpoint. */
function textOf(path: string): string {
  try {
    return readFileIfThere(path)?.toString() ?? ''
  } catch (error) {
    if (error instanceof HeimdallError || isErrno(error, 'EACCES', 'EISDIR', 'ELOOP')) return ''
    throw error
  }
}

/** On a full disk the old one stays: the next reader reads more of the record. */
export function writeCheckpoint(runDir: string, fd: number, { bytes, fold }: Checkpoint): void {
  const second = JSON.stringify(fold.saved())
  const anchor = anchorOf(fd, bytes)
  const asks = fold.approvals.questions.length > 0
  const head: Head = { v: VERSION, run: basename(runDir), bytes, anchor, asks, hash: hash('sha256', second) }
  try {
    replaceCache(checkpointPath(runDir), `${JSON.stringify(head)}\n${second}\n`)
  } catch (error) {
    if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
    // What is in its place is not a file of ours, or there is no space: neither is worth a word.
  }
}

function anchorOf(fd: number, bytes: number): string {
  const from = Math.max(0, bytes - ANCHOR_BYTES)
  const block = Buffer.alloc(bytes - from)
  fs.readSync(fd, block, 0, block.length, from)
  return hash('sha256', block)
}
