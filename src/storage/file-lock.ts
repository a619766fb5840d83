// Exclusive update of one file by many processes: a kernel lock that dies with its holder.
import type { Clock } from '../clock.ts'
import { pause, systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { LOCK_POLL_MS_MAX, LOCK_WAIT_MS } from '../limits.ts'
import { readFileIfThere, replaceFile } from './atomic-file.ts'
import { diskError } from './faults.ts'
import { closeFlushed, type Fs, isStillNamed, O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'

export interface LockOptions {
  readonly waitMs?: number
  readonly clock?: Clock
  readonly fs?: Fs
  /** Spreads the attempts of many waiting processes. */
  readonly random?: () => number
}

// The lock file is never removed: removing it is how two holders come about, each with its own inode.
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

async function acquire(fs: Fs, path: string, options: LockOptions): Promise<number> {
  const { clock = systemClock, waitMs = LOCK_WAIT_MS, random = Math.random } = options
  const deadlineMs = clock.monoMs() + waitMs
  // Attempts with growing pauses instead of a blocking wait: that would take a thread of the pool, could not be
  // given up at the deadline, and would keep the process from exiting.
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LOCK_POLL_MS_MAX)) {
    const fd = tryAcquire(fs, lockPath(path))
    if (fd !== undefined) return fd
    if (clock.monoMs() >= deadlineMs)
      throw new HeimdallError('STORE_BUSY', `the lock of ${path} was not free within ${waitMs} ms`, {
        hint: 'run the command again',
      })
    await pause(clock, pauseMs * (0.5 + random()))
  }
}

/** Opens anew for each attempt: a lock file that was swept away (`git clean`) would otherwise be waited for by some and locked anew by others. */
function tryAcquire(fs: Fs, path: string): number | undefined {
  const fd = openPlainFile(fs, path, O.O_RDWR | O.O_CREAT, 0o600)
  let isHeld = false
  try {
    isHeld = fs.tryLock(fd) && isStillNamed(fs, path, fd)
  } finally {
    if (!isHeld) fs.close(fd)
  }
  return isHeld ? fd : undefined
}
