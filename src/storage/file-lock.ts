// Exclusive update of one file by many processes: a kernel lock that dies with its holder.
import { createRequire } from 'node:module'
import type { Clock } from '../clock.ts'
import { pause, systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { LOCK_WAIT_MS } from '../limits.ts'
import { readFileIfThere, replaceFile } from './atomic-file.ts'
import { onDisk } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'

interface KernelLocks {
  readonly tryLock: (fd: number) => boolean
}

// The lock file is never removed: removing it is how two holders come about, each with its own inode.
const lockPath = (path: string): string => `${path}.lock`

/**
 * Runs `act` while no other process does so for the same `path`. The lock is an open-file-description lock on
 * a file beside it, so the kernel frees it when the holder dies, and nobody has to guess who is stale.
 */
export async function withFileLock<T>(
  path: string,
  act: () => T | Promise<T>,
  options: { waitMs?: number; clock?: Clock; fs?: Fs } = {},
): Promise<T> {
  const fs = options.fs ?? realFs
  const clock = options.clock ?? systemClock
  const fd = onDisk(lockPath(path), () => fs.open(lockPath(path), O.O_RDWR | O.O_CREAT))
  try {
    await acquire(fd, path, clock, options.waitMs ?? LOCK_WAIT_MS)
    return await act()
  } finally {
    fs.close(fd)
  }
}

/** Reads the file, lets `change` make the new content from the old, and replaces it; all under the lock. */
export async function updateFile(
  path: string,
  change: (before: Buffer | undefined) => string | Uint8Array | undefined,
  options: { waitMs?: number; clock?: Clock; fs?: Fs; mode?: number } = {},
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

async function acquire(fd: number, path: string, clock: Clock, waitMs: number): Promise<void> {
  const { tryLock } = kernelLocks()
  const deadlineMs = clock.monoMs() + waitMs
  // Polling with growing pauses instead of a blocking wait: the wait then has a deadline and takes no pool thread.
  for (let pauseMs = 1; !tryLock(fd); pauseMs = Math.min(pauseMs * 2, 20)) {
    if (clock.monoMs() >= deadlineMs)
      throw new HeimdallError('STORE_BUSY', `another process has held ${path} for ${waitMs} ms`, {
        hint: 'run the command again',
      })
    await pause(clock, pauseMs * (0.5 + Math.random()))
  }
}

let locks: KernelLocks | undefined

/** Loaded on first use: a command that only reads must not pay for a native module. */
function kernelLocks(): KernelLocks {
  locks ??= createRequire(import.meta.url)('fs-native-extensions') as KernelLocks
  return locks
}
