// Capsules on disk: what a refused write leaves, what a closure says before it prints, and where no id can lead.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { hydratedText } from '../../src/briefing/capsule-text.ts'
import { hydrate, listCapsules, readClosure, showCapsule, writeCapsule } from '../../src/briefing/capsules.ts'
import { HeimdallError } from '../../src/errors.ts'
import { temporaryFolder } from '../support/project.ts'
import { temporaryDesk } from './desk.ts'
import { temporaryIsland } from './island.ts'

const code = (wanted: string): unknown => expect.objectContaining({ code: wanted })

test('seed 000, capsules: a write that is refused leaves the capsule as it was', () => {
  const { planning, path } = temporaryDesk()
  writeCapsule(planning, 'w1', { what: 'first', depends: [] })
  const before = readFileSync(path('protocol/capsules/w1.md'))
  expect(() => writeCapsule(planning, 'w1', { what: 'a\nb\nc\nd\ne\nf\ng', depends: [] })).toThrow(
    code('CAPSULE_TOO_LONG'),
  )
  expect(readFileSync(path('protocol/capsules/w1.md'))).toEqual(before)
  expect(readdirSync(path('protocol/capsules'))).toEqual(['w1.md'])
})

test('seed 000, capsules: hydration is the closure, dependencies first, a blank line between', () => {
  const { planning } = temporaryDesk()
  writeCapsule(planning, 'w2', { what: 'book diff', depends: ['w1'] })
  writeCapsule(planning, 'w1', { what: 'LOB engine', depends: [] })
  writeCapsule(planning, 'w3', { what: 'docs', depends: [] })
  expect(hydrate(planning, ['w2']).map(hydratedText).join('\n')).toBe(
    `${showCapsule(planning, 'w1')}\n${showCapsule(planning, 'w2')}`,
  )
  expect(listCapsules(planning)).toEqual(['w1', 'w2', 'w3'])
})

test("seed 000, hydrate: a capsule's text cannot pass for the header or a label of another capsule", async () => {
  const island = temporaryIsland()
  const forged = ['x', '---', 'id: w9', '---', 'WHAT: forged'].join('\n')
  await island.run('heimdall-capsule', ['write', 'w1', '--what', forged])
  // As another tool wrote it, or a hand.
  island.write('protocol/capsules/w2.md', `---\nid: w2\ndepends: w1\nts: t\n---\nWHAT: y\n\n${forged}\nGOTCHA: z\n`)
  const { stdout } = await island.run('heimdall-capsule', ['hydrate', 'w2'])
  const columns = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('  '))
  expect(columns.map((line) => line.replace(/(?<=^ts: ).*/, 't'))).toEqual(
    [
      ['---', 'id: w1', 'depends: ', 'ts: t', '---', 'WHAT: x'],
      ['---', 'id: w2', 'depends: w1', 'ts: t', '---', 'WHAT: y', 'GOTCHA: z'],
    ].flat(),
  )
})

test('missing capsules and circles are errors before anything is printed', async () => {
  const island = temporaryIsland()
  const write = (id: string, depends: string): Promise<unknown> =>
    island.run('heimdall-capsule', ['write', id, '--what', 'x', '--depends', depends])
  await write('a', 'b')
  await write('b', 'c')
  const missing = await island.run('heimdall-capsule', ['hydrate', 'a'])
  expect(missing).toMatchObject({ code: 1, stdout: '' })
  expect(missing.stderr).toContain('unknown capsule: c')
  expect(await island.run('heimdall-capsule', ['deps', 'a'])).toMatchObject({ code: 1, stdout: '' })
  await write('c', 'a')
  const circle = await island.run('heimdall-capsule', ['hydrate', 'b'])
  expect(circle).toMatchObject({ code: 1, stdout: '' })
  expect(circle.stderr).toMatch(/circle: a -> b -> c -> a/)
})

test('a dependency that is not written yet is allowed, with a note', async () => {
  const { code: exit, stderr } = await temporaryIsland().run('heimdall-capsule', [
    'write',
    'w2',
    '--what',
    'x',
    '--depends',
    'w1',
  ])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: 'note: w2 depends on capsules that do not exist yet: w1\n' })
})

test('no id leads out of the folder of capsules', () => {
  const { planning, root, path } = temporaryDesk()
  writeCapsule(planning, 'w1', { what: 'x', depends: [] })
  writeFileSync(path('decisions.md'), 'the record')
  const ids = fc.oneof(
    fc.constantFrom(
      '../decisions',
      '../../decisions',
      '..',
      '.',
      '',
      '/etc/passwd',
      'a/b',
      'a\\b',
      'a\0',
      'CON:',
      '.hidden',
      'x'.repeat(65),
      'ａ',
    ),
    fc.string({ unit: anyCharacter, maxLength: 12 }),
  )
  fc.assert(
    fc.property(ids, (id) => {
      for (const act of [
        () => showCapsule(planning, id),
        () => writeCapsule(planning, id, { what: 'x', depends: [] }),
        () => readClosure(planning, [id]),
      ])
        try {
          act()
        } catch (error) {
          if (!(error instanceof HeimdallError) || !['ID_INVALID', 'CAPSULE_UNKNOWN'].includes(error.code)) throw error
        }
    }),
    { numRuns: 300 },
  )
  expect(readdirSync(root)).toEqual(['.planning'])
  expect(readdirSync(path('')).sort()).toEqual(['decisions.md', 'protocol', 'protocol.log'])
  expect(readFileSync(path('decisions.md'), 'utf8')).toBe('the record')
  expect(readdirSync(path('protocol'))).toEqual(['capsules'])
})

test('a capsule that is a link to somewhere else is neither read nor written through', () => {
  const { planning, path } = temporaryDesk()
  const secret = join(temporaryFolder(), 'secret.md')
  writeFileSync(secret, '---\ndepends: \n---\nWHAT: secret\n')
  mkdirSync(path('protocol/capsules'), { recursive: true })
  symlinkSync(secret, path('protocol/capsules/w1.md'))
  expect(() => showCapsule(planning, 'w1')).toThrow(code('PATH_OUTSIDE_ROOT'))
  expect(() => readClosure(planning, ['w1'])).toThrow(code('STORE_UNREADABLE'))
  expect(() => writeCapsule(planning, 'w1', { what: 'x', depends: [] })).toThrow(code('PATH_OUTSIDE_ROOT'))
  expect(readFileSync(secret, 'utf8')).toContain('secret')
})

test("seed 000: a capsule written by the seed's own tool is read", () => {
  const { planning, path } = temporaryDesk()
  mkdirSync(path('protocol/capsules'), { recursive: true })
  writeFileSync(
    path('protocol/capsules/w1.md'),
    '---\nid: w1\ndepends: \nts: 2026-06-11T12:07:27Z\n---\nWHAT: added LOB engine\nWHERE: F12\n',
  )
  expect(readClosure(planning, ['w1']).map(({ body }) => body)).toEqual(['WHAT: added LOB engine\nWHERE: F12'])
  expect(existsSync(path('protocol/symbols.json'))).toBe(false)
})
