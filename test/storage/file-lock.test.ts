// The lock of one file: exclusion within a process too, a bounded wait, and no second holder when the lock file is swept away.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile } from '../../src/storage/atomic-file.ts'
import { updateFile, withFileLock } from '../../src/storage/file-lock.ts'
import { type Fs, realFs } from '../../src/storage/fs.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fixture, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

const filePath = (): string => join(temporaryFolder(), 'file')

function gate(): { open: () => void; opened: Promise<void> } {
  const { promise, resolve } = withResolvers()
  return { open: resolve, opened: promise }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((give) => {
    resolve = give
  })
  return { promise, resolve }
}

test('callers within one process exclude each other', async () => {
  const path = filePath()
  let inside = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withFileLock(path, async () => {
        inside += 1
        most = Math.max(most, inside)
        await Promise.resolve()
        inside -= 1
      }),
    ),
  )
  expect(most).toBe(1)
})

test('a wait ends at its deadline with STORE_BUSY, and the holder is not disturbed', async () => {
  const path = filePath()
  const { open, opened } = gate()
  const holder = withFileLock(path, () => opened)
  const clock = fakeClock()
  const late = withFileLock(path, () => 'never', { waitMs: 1_000, clock, random: () => 0.5 })
  const refused = expect(late).rejects.toMatchObject({ code: 'STORE_BUSY' })
  await clock.advanceAsync(999)
  expect(clock.pending()).toBe(1)
  await clock.advanceAsync(100)
  await refused
  open()
  await holder
  expect(await withFileLock(path, () => 'free')).toBe('free')
})

test('the lock is freed when the work fails, and its file stays, private and empty', async () => {
  const path = filePath()
  await expect(withFileLock(path, () => Promise.reject(new Error('work failed')))).rejects.toThrow('work failed')
  await updateFile(path, () => 'content')
  const { size, mode } = statSync(`${path}.lock`)
  expect([size, mode & 0o777]).toEqual([0, 0o600])
})

test('a lock file that was swept away admits nobody twice', async () => {
  const path = filePath()
  const { open, opened } = gate()
  const holder = withFileLock(path, () => opened)
  const clock = fakeClock()
  let hasEntered = false
  const waiter = withFileLock(path, () => (hasEntered = true), { clock, random: () => 0.5 })
  await clock.advanceAsync(50)
  open()
  await holder
  // The waiter would now lock a file without a name, and a newcomer a new one.
  rmSync(`${path}.lock`)
  const second = gate()
  const newcomer = withFileLock(path, () => second.opened)
  await clock.advanceAsync(200)
  expect(hasEntered).toBe(false)
  second.open()
  await newcomer
  await clock.advanceAsync(200)
  await waiter
  expect(hasEntered).toBe(true)
})

test('a lock taken on a file that lost its name in that moment does not count', async () => {
  const path = filePath()
  let attempts = 0
  const unlucky: Fs = {
    ...realFs,
    tryLock(fd, place) {
      attempts += 1
      if (attempts === 1) rmSync(`${path}.lock`)
      return realFs.tryLock(fd, place)
    },
  }
  await withFileLock(path, () => expect(statSync(`${path}.lock`).size).toBe(0), { fs: unlucky })
  // Seat and lock, twice.
  expect(attempts).toBe(4)
})

test('returning nothing leaves the file alone', async () => {
  const path = filePath()
  await updateFile(path, () => 'first')
  const { ino } = statSync(path)
  await updateFile(path, (before) => {
    expect(before?.toString()).toBe('first')
    return undefined
  })
  expect(statSync(path).ino).toBe(ino)
})

test('a replaced file has the mode asked for and leaves no temporary file', () => {
  const path = filePath()
  replaceFile(path, 'private')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  replaceFile(path, Buffer.from('shared'), { mode: 0o640 })
  expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([0o640, 'shared'])
  expect(readdirSync(join(path, '..'))).toEqual(['file'])
})

test('a temporary file that is taken from us between its making and its locking is not written', () => {
  const path = filePath()
  const temporary = join(path, '../.file.0.tmp')
  let attempts = 0
  const unlucky: Fs = {
    ...realFs,
    tryLock(fd, place) {
      attempts += 1
      if (attempts === 1) {
        // Somebody took it for abandoned, and a third one has made a file of its own there.
        rmSync(temporary)
        writeFileSync(temporary, 'half of what another writer')
      }
      return realFs.tryLock(fd, place)
    },
  }
  replaceFile(path, 'ours', { fs: unlucky })
  expect(readFileSync(path, 'utf8')).toBe('ours')
  expect(attempts).toBeGreaterThan(1)
})

test('a temporary file of a dead writer is taken back, one of a living writer is not', async () => {
  const path = filePath()
  const temporary = join(path, '../.file.0.tmp')
  writeFileSync(temporary, 'half of what a killed writer')
  replaceFile(path, 'first')
  expect(readdirSync(join(path, '..'))).toEqual(['file'])

  const program = startProgram([...fixture('storage-temporary-holder'), path])
  await program.waitForLine('holding')
  replaceFile(path, 'second')
  expect(readFileSync(temporary, 'utf8')).toBe('half')
  program.kill('SIGKILL')
  await program.ended
  replaceFile(path, 'third')
  expect(readdirSync(join(path, '..'))).toEqual(['file'])
})
