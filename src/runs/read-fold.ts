// The state of a run for commands that only read: its checkpoint, and what stands in the record beyond it.
import fs from 'node:fs'
import { isErrno } from '../errors.ts'
import { readCheckpoint, readCheckpointHead } from './checkpoint.ts'
import { RecordReader } from './record-reader.ts'
import { RunFold } from './run-fold.ts'
import { recordPath } from './run-log.ts'

/** Nothing is written, and a writer is not waited for. */
export function readFold(runDir: string): RunFold {
  const checkpoint = checkpointOf(runDir)
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
  const bytes = readFileTail(recordPath(runDir), head?.bytes ?? 0)
  return bytes.includes('"approval_requested"')
}

function readFileTail(path: string, from: number): Buffer {
  let fd: number
  try {
    fd = fs.openSync(path, 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fs.fstatSync(fd).size - from))
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, from))
  } finally {
    fs.closeSync(fd)
  }
}

function checkpointOf(runDir: string): ReturnType<typeof readCheckpoint> {
  let fd: number
  try {
    fd = fs.openSync(recordPath(runDir), 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return readCheckpoint(runDir, fd)
  } finally {
    fs.closeSync(fd)
  }
}
