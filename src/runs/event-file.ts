// A file of events that a shim was told to write (`--events FILE`): a plain file, or a pipe to whoever reads along.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { isErrno } from '../errors.ts'
import { tryLock, unlock } from '../storage/kernel-lock.ts'

export interface EventFile {
  /** Takes whole lines, or says false when they cannot be taken now; nobody waits for a reader or another writer. */
  readonly out: (lines: Buffer) => boolean
  readonly close: () => void
}

/** Several shims may write to one file, so each batch goes in under its lock, whole or not at all. */
export function openEventFile(path: string): EventFile {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
  // A pipe whose reader stands still would otherwise stop the shim, and with it the agent.
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)
  const close = (): void => closeSync(fd)
  return fstatSync(fd).isFile() ? { out: (lines) => appendWhole(fd, lines), close } : { out: pipeTo(fd), close }
}

function appendWhole(fd: number, bytes: Buffer): boolean {
  // Whether all has gone out is asked with nothing to write, before each call that is sent on: a file keeps nothing back.
  if (bytes.length === 0) return true
  if (!tryLock(fd)) return false
  try {
    let sent = 0
    try {
      while (sent < bytes.length) sent += writeSync(fd, bytes, sent)
    } catch (error) {
      // What fitted is taken back: the batch will be written again from its beginning.
      if (sent > 0) ftruncateSync(fd, fstatSync(fd).size - sent)
      throw error
    }
    return true
  } finally {
    unlock(fd)
  }
}

/** What a pipe did not take of one batch goes before the next. */
function pipeTo(fd: number): (lines: Buffer) => boolean {
  let rest: Buffer = Buffer.alloc(0)
  const send = (): void => {
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if (!isErrno(error, 'EAGAIN')) throw error
    }
  }
  return (lines) => {
    send()
    if (rest.length > 0) return false
    rest = lines
    try {
      send()
    } catch (error) {
      // Nothing of it counts as taken; whoever asks again sends it again.
      rest = Buffer.alloc(0)
      throw error
    }
    return true
  }
}
