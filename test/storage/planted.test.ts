// What may be planted at the path of a state file: links out of the folder, second names, pipes, folders, too much data; and folders that may not be read.
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { STATE_FILE_BYTES_MAX } from '../../src/limits.ts'
import { openAppendLog } from '../../src/storage/append-log.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../src/storage/atomic-file.ts'
import { updateFile } from '../../src/storage/file-lock.ts'
import { readLog } from '../../src/storage/log-reader.ts'
import { openRecording } from '../../src/storage/recording.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { fixture, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

const refused = expect.objectContaining({ code: 'STORE_UNREADABLE' })

/** Every way to use a state file, each of which would go through what is planted at its path. */
const uses: readonly [string, (path: string) => unknown][] = [
  ['reading', (path) => readFileIfThere(path)],
  ['replacing', (path) => replaceFile(path, 'overwritten')],
  ['updating', (path) => updateFile(path, () => 'overwritten')],
  ['locking', (path) => updateFile(path.replace(/\.lock$/, ''), () => 'overwritten')],
  ['appending', (path) => openAppendLog(path).append('overwritten')],
  ['reading lines', (path) => [...readLog(path)]],
  ['a recording', (path) => openRecording(path, { size: { cols: 80, rows: 24 }, command: [], title: '' }, systemClock)],
  ['a database', (path) => openDatabase(path, { migrations: ['CREATE TABLE t (a)'] })],
]

test.each(uses)('%s does not follow a symbolic link out of the folder', async (_, use) => {
  const folder = temporaryFolder()
  const outside = join(temporaryFolder(), 'secret')
  writeFileSync(outside, 'secret\n')
  const planted = join(folder, 'state.lock')
  symlinkSync(outside, planted)
  await expect((async () => await use(planted))()).rejects.toThrow(refused)
  expect(readFileSync(outside, 'utf8')).toBe('secret\n')
  expect(readdirSync(join(outside, '..'))).toEqual(['secret'])
})

test.each(uses.filter(([name]) => name !== 'replacing'))('%s refuses a file with a second name', async (_, use) => {
  const folder = temporaryFolder()
  const outside = join(folder, 'outside')
  writeFileSync(outside, 'secret\n')
  const planted = join(folder, 'state.lock')
  linkSync(outside, planted)
  await expect((async () => await use(planted))()).rejects.toThrow(refused)
  expect(readFileSync(outside, 'utf8')).toBe('secret\n')
})

test('replacing gives a file with a second name a content of its own', () => {
  const folder = temporaryFolder()
  const [outside, planted] = [join(folder, 'outside'), join(folder, 'state')]
  writeFileSync(outside, 'secret')
  linkSync(outside, planted)
  replaceFile(planted, 'ours')
  expect([readFileSync(outside, 'utf8'), readFileSync(planted, 'utf8')]).toEqual(['secret', 'ours'])
})

test.each(uses)('%s neither hangs on a pipe nor takes a folder for a file', async (_, use) => {
  const folder = temporaryFolder()
  const pipe = join(folder, 'pipe.lock')
  execFileSync('mkfifo', [pipe])
  await expect((async () => await use(pipe))()).rejects.toThrow(refused)
  const planted = join(folder, 'folder.lock')
  mkdirSync(planted)
  await expect((async () => await use(planted))()).rejects.toThrow(refused)
})

test('links planted at the places of temporary files are neither followed nor removed', () => {
  const folder = temporaryFolder()
  const outside = join(temporaryFolder(), 'secret')
  writeFileSync(outside, 'secret')
  symlinkSync(outside, join(folder, '.state.0.tmp'))
  mkdirSync(join(folder, '.state.1.tmp'))
  replaceFile(join(folder, 'state'), 'ours')
  expect(readFileSync(outside, 'utf8')).toBe('secret')
  expect(readdirSync(folder).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['.state.0.tmp', '.state.1.tmp', 'state'])
})

test('a state file of absurd size is refused before it is read', () => {
  const path = join(temporaryFolder(), 'state')
  writeFileSync(path, '')
  truncateSync(path, STATE_FILE_BYTES_MAX + 1)
  expect(() => readFileIfThere(path)).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }))
})

test('folders are made with all that is above them; a file in their place is refused', () => {
  const folder = temporaryFolder()
  ensureFolder(join(folder, 'a/b/c'))
  ensureFolder(join(folder, 'a/b/c'))
  expect(readdirSync(join(folder, 'a/b'))).toEqual(['c'])
  writeFileSync(join(folder, 'file'), '')
  expect(() => ensureFolder(join(folder, 'file'))).toThrow(refused)
  expect(() => ensureFolder(join(folder, 'file/below'))).toThrow(refused)
})

test('a folder that may not be read or written is reported as such', async () => {
  const folder = temporaryFolder()
  const { stdout, stderr } = await runProgram([...fixture('storage-unreadable'), folder])
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    read: 'STORE_UNREADABLE',
    lines: 'STORE_UNREADABLE',
    replace: 'STORE_UNREADABLE',
    update: 'STORE_UNREADABLE',
    append: 'STORE_UNREADABLE',
    folder: 'STORE_UNREADABLE',
    database: 'STORE_UNREADABLE',
    'read-only database': 'STORE_UNREADABLE',
    'write to a read-only file': 'STORE_UNREADABLE',
  })
})
