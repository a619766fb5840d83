// The crash harness's own proof: it finds the classic mistakes, and its disk behaves like a real one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isErrno } from '../../src/errors.ts'
import { type Fs, O, realFs } from '../../src/storage/fs.ts'
import { crashStates } from './crash-states.ts'
import { emptyDisk, simulateDisk } from './simulated-disk.ts'

const CREATE = O.O_RDWR | O.O_CREAT | O.O_APPEND

function writeFile(fs: Fs, path: string, text: string, isSynced: boolean): void {
  const fd = fs.open(path, CREATE)
  fs.write(fd, Buffer.from(text))
  if (isSynced) fs.sync(fd)
  fs.close(fd)
}

function syncFolder(fs: Fs): void {
  const fd = fs.open('/', O.O_RDONLY)
  fs.sync(fd)
  fs.close(fd)
}

/** What `/state` may hold after a crash that came after the acknowledgement. */
function contentsAfterAck(act: (fs: Fs) => void): Set<string | undefined> {
  const first = simulateDisk(emptyDisk)
  writeFile(first.fs, '/state', 'old', true)
  const start = first.image()
  const disk = simulateDisk(start)
  act(disk.fs)
  disk.mark('ack')
  const states = [...crashStates(start, disk.ops)].filter(({ marks }) => marks.length > 0)
  return new Set(states.map(({ image }) => simulateDisk(image).tree()['/state']))
}

test('the right protocol leaves one content after the acknowledgement', () => {
  const contents = contentsAfterAck((fs) => {
    writeFile(fs, '/new', 'new', true)
    fs.rename('/new', '/state')
    syncFolder(fs)
  })
  expect([...contents]).toEqual(['new'])
})

test.each<[string, (fs: Fs) => void, string]>([
  [
    'no flush of the file: the new name leads to an empty or torn file',
    (fs) => {
      writeFile(fs, '/new', 'new', false)
      fs.rename('/new', '/state')
      syncFolder(fs)
    },
    '',
  ],
  [
    'no flush of the folder: the rename is undone',
    (fs) => {
      writeFile(fs, '/new', 'new', true)
      fs.rename('/new', '/state')
    },
    'old',
  ],
  ['written in place: a torn mixture', (fs) => writeFile(fs, '/state', '+new', false), 'old+'],
])('a planted mistake is found: %s', (_, act, evidence) => {
  expect(contentsAfterAck(act)).toContain(evidence)
})

test('zero-filled tails and lost middle writes are among the states', () => {
  const disk = simulateDisk(emptyDisk)
  writeFile(disk.fs, '/log', '', true)
  syncFolder(disk.fs)
  const start = disk.image()
  const second = simulateDisk(start)
  writeFile(second.fs, '/log', 'one\n', false)
  writeFile(second.fs, '/log', 'two\n', false)
  const contents = [...crashStates(start, second.ops)].map(({ image }) => simulateDisk(image).tree()['/log'])
  expect(contents).toEqual(
    expect.arrayContaining(['', 'one\n', 'one\ntwo\n', '\0\0\0\0two\n', 'one\nt', 'one\ntwo', 'one\n\0\0\0\0']),
  )
})

/** Operations on a handful of names; each returns what it saw, errors by their code. */
const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), name: fc.nat(2), text: fc.string({ maxLength: 5 }) }),
  fc.record({ do: fc.constant('read' as const), name: fc.nat(3) }),
  fc.record({ do: fc.constant('create' as const), name: fc.nat(3) }),
  fc.record({ do: fc.constant('rename' as const), name: fc.nat(3), to: fc.nat(3) }),
  fc.record({ do: fc.constant('unlink' as const), name: fc.nat(2) }),
  fc.record({ do: fc.constant('lstat' as const), name: fc.nat(3) }),
  fc.record({ do: fc.constant('lock' as const), name: fc.nat(2) }),
  fc.record({ do: fc.constant('folder' as const), name: fc.constant(3) }),
)

function perform(fs: Fs, root: string, at: typeof step extends fc.Arbitrary<infer S> ? S : never): unknown {
  const path = join(root, `f${at.name}`)
  const opening = (flags: number, then: (fd: number) => unknown): unknown => {
    const fd = fs.open(path, flags)
    try {
      return then(fd)
    } finally {
      fs.close(fd)
    }
  }
  try {
    switch (at.do) {
      case 'append':
        return opening(CREATE, (fd) => [fs.write(fd, Buffer.from(at.text)), fs.stat(fd).size])
      case 'read':
        return opening(O.O_RDONLY, (fd) => {
          const bytes = Buffer.alloc(100)
          return bytes.subarray(0, fs.read(fd, bytes, 1)).toString()
        })
      case 'create':
        return opening(O.O_WRONLY | O.O_CREAT | O.O_EXCL, (fd) => fs.stat(fd).links)
      case 'rename':
        return fs.rename(path, join(root, `f${at.to}`))
      case 'unlink':
        return fs.unlink(path)
      case 'lstat': {
        const facts = fs.lstat(path)
        return [facts?.kind, facts?.kind === 'file' ? facts.size : 0]
      }
      case 'lock':
        return opening(CREATE, (fd) =>
          opening(CREATE, (other) => [
            fs.tryLock(fd, 0),
            fs.tryLock(other, 0),
            fs.tryLock(other, 1),
            fs.unlock(fd, 0),
            fs.tryLock(other, 0),
          ]),
        )
      case 'folder':
        return fs.mkdir(path, 0o700)
      default:
        return at satisfies never
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EEXIST', 'EISDIR', 'ENOTDIR')) throw error
    return error.code
  }
}

test('the simulated disk answers like a real one', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const real = mkdtempSync(join(tmpdir(), 'hm-'))
      try {
        const { fs } = simulateDisk(emptyDisk)
        for (const at of steps) expect(perform(fs, '/', at)).toEqual(perform(realFs, real, at))
      } finally {
        rmSync(real, { recursive: true })
      }
    }),
    { numRuns: 300 },
  )
})
