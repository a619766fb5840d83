// The state of a run for commands that only read: its checkpoint, and what stands in the record beyond it.
import fs from 'node:fs'
import { isErrno } from '../errors.ts'
import { readCheckpoint, readCheckpointHead } from './checkpoint.ts'
import { RecordReader } from './record-reader.ts'
import { RunFold } from './run-fold.ts'
import { recordPath } from './run-log.ts'

/** Nothing is written, and a writer is not waited for. */
export function readFold(runDir: string): RunFold {
  const checkpoint = withRecord(runDir, (fd) => readCheckpoint(runDir, fd))
  const fold = checkpoint?.fold ?? new RunFold()
  const reader = new RecordReader(runDir, checkpoint?.bytes ?? 0)
  try {
    for (const { event } of reader.rest()) fold.enterStored(event)
  } finally {
    reader.close()
  }
  return fold
}

/** False where surely no human was asked: most runs ask nothing, and `status` looks at all of them. */
export function mayHaveQuestions(runDir: string): boolean {
  const head = readCheckpointHead(runDir)
  if (head?.asks === true) return true
  const tail = withRecord(runDir, (fd) => readFrom(fd, head?.bytes ?? 0))
  return tail?.includes('"approval_requested"') === true
}

function readFrom(fd: number, from: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, fs.fstatSync(fd).size - from))
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, from))
}

/** Undefined where the run has no record. */
export function withRecord<T>(runDir: string, read: (fd: number) => T): T | undefined {
  let fd: number
  try {
    fd = fs.openSync(recordPath(runDir), 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return read(fd)
  } finally {
    fs.closeSync(fd)
  }
}
