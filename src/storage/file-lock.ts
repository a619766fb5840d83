// Exclusive update of one file by many processes: a kernel lock that dies with its holder.
import type { Clock } from '../clock.ts'
import { pause, systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { LOCK_NOW_WAIT_MS, LOCK_POLL_MS_MAX, LOCK_SEAT_POLL_MS_MAX, LOCK_WAIT_MS } from '../limits.ts'
import { readFileIfThere, replaceFile } from './atomic-file.ts'
import { diskError, onDisk } from './faults.ts'
import { closeFlushed, type Fs, isStillNamed, O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'

export interface LockOptions {
  readonly waitMs?: number
  readonly clock?: Clock
  readonly fs?: Fs
  /** Spreads the attempts of many waiting processes. */
  readonly random?: () => number
}

// Removed by its holder alone, and whoever has taken a lock looks whether the name is still that of the locked file:
// otherwise two holders could come about, each with its own inode.
const lockPath = (path: string): string => `${path}.lock`

/**
 * Runs `act` while no other process, and no other caller in this one, does so for the same `path`. The lock is an
 * open-file-description lock on a file beside it: the kernel frees it when the holder dies, and nobody has to
 * guess who is stale. It does not nest: `act` must not take the lock of the same path.
 */
export async function withFileLock<T>(path: string, act: () => T | Promise<T>, options: LockOptions = {}): Promise<T> {
  const fs = options.fs ?? realFs
  let fd: number
  try {
    fd = await acquire(fs, path, options)
  } catch (error) {
    throw diskError(lockPath(path), error)
  }
  try {
    return await act()
  } finally {
    closeFlushed(fs, fd)
  }
}

/**
 * The same for whoever can do nothing else before it is done, and holds the thread meanwhile: for updates that are rare
 * and short. It waits without a seat, so it is not for many.
 */
export function withFileLockNow<T>(path: string, act: () => T, options: LockOptions = {}): T {
  const { fs = realFs, clock = systemClock, waitMs = LOCK_NOW_WAIT_MS } = options
  const lock = lockPath(path)
  const deadlineMs = clock.monoMs() + waitMs
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    const fd = onDisk(lock, () => openPlainFile(fs, lock, O.O_RDWR | O.O_CREAT, 0o600))
    try {
      if (onDisk(lock, () => fs.tryLock(fd, LOCK) && isStillNamed(fs, lock, fd))) return act()
    } finally {
      closeFlushed(fs, fd)
    }
    if (clock.monoMs() >= deadlineMs) throw busy(path, waitMs)
    Atomics.wait(cell, 0, 0, 2)
  }
}

/**
 * Removes the lock file of a path that nobody will lock for long; not while somebody does. Whoever waits for it finds, with
 * the lock, that the name is gone, and makes a new one.
 */
export function removeFileLock(path: string, fs: Fs = realFs): void {
  const lock = lockPath(path)
  onDisk(lock, () => {
    if (fs.lstat(lock) === undefined) return
    const fd = openPlainFile(fs, lock, O.O_RDWR | O.O_CREAT, 0o600)
    try {
      if (fs.tryLock(fd, LOCK) && isStillNamed(fs, lock, fd)) fs.unlink(lock)
    } finally {
      closeFlushed(fs, fd)
    }
  })
}

/** Reads the file, lets `change` make the new content from the old, and replaces it; all under the lock. */
export async function updateFile(
  path: string,
  change: (before: Buffer | undefined) => string | Uint8Array | undefined,
  options: LockOptions & { readonly mode?: number } = {},
): Promise<void> {
  await withFileLock(
    path,
    () => {
      const after = change(readFileIfThere(path, options.fs))
      if (after !== undefined) replaceFile(path, after, options)
    },
    options,
  )
}

/** Places in the lock file: the lock itself, and a seat for whoever is next. */
const LOCK = 0
const SEAT = 1

async function acquire(fs: Fs, path: string, options: LockOptions): Promise<number> {
  const { clock = systemClock, waitMs = LOCK_WAIT_MS, random = Math.random } = options
  const deadlineMs = clock.monoMs() + waitMs
  const wait = async (pauseMs: number): Promise<void> => {
    if (clock.monoMs() >= deadlineMs) throw busy(path, waitMs)
    await pause(clock, pauseMs * (0.5 + random()))
  }
  for (;;) {
    const fd = openPlainFile(fs, lockPath(path), O.O_RDWR | O.O_CREAT, 0o600)
    let isHeld = false
    try {
      await takeTurn(fs, fd, clock, wait)
      // Somebody may have swept the file away (`git clean`), and others then lock a new one in its place.
      isHeld = isStillNamed(fs, lockPath(path), fd)
    } finally {
      if (!isHeld) closeFlushed(fs, fd)
    }
    if (isHeld) return fd
  }
}

/**
 * Resolves when `fd` has the lock. Attempts with pauses instead of a blocking wait: that would take a thread of the
 * pool, could not be given up at the deadline, and would keep the process from exiting. Only the one in the seat
 * tries often: a hundred processes that all did so would take the processor from the holder. The pauses grow with
 * the time waited, so that a short hold is followed closely and a long one costs little.
 */
async function takeTurn(fs: Fs, fd: number, clock: Clock, wait: (pauseMs: number) => Promise<void>): Promise<void> {
  const startMs = clock.monoMs()
  for (; !fs.tryLock(fd, SEAT);) await wait(between(2, (clock.monoMs() - startMs) / 4, LOCK_POLL_MS_MAX))
  const seatedMs = clock.monoMs()
  for (; !fs.tryLock(fd, LOCK);) await wait(between(1, (clock.monoMs() - seatedMs) / 8, LOCK_SEAT_POLL_MS_MAX))
  fs.unlock(fd, SEAT)
}

function busy(path: string, waitMs: number): HeimdallError {
  return new HeimdallError('STORE_BUSY', `the lock of ${path} was not free within ${waitMs} ms`, {
    hint: 'run the command again',
  })
}

function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
