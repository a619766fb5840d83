// What a human reads of a call: the target first whatever the caller's order of keys, changes as diffs, nothing cut without saying so.
import { describe, expect, test } from 'vitest'
import { createRedact } from '../../events/redact.ts'
import { callText } from './call-text.ts'

const HOW = 'heimdall approve --show 1f2e'
const textOf = (args: object | string) =>
  callText(Buffer.from(typeof args === 'string' ? args : JSON.stringify(args)), createRedact(), HOW)

test('the path is first, also behind 15 KB of content', () => {
  const content = 'x = 1\n'.repeat(2_500)
  const one = textOf({ content, path: 'src/auth.ts' })
  const other = textOf({ path: 'src/auth.ts', content })
  expect(one.short.split('\n').slice(0, 3)).toEqual([
    'src/auth.ts',
    'path: src/auth.ts',
    'content: 2501 lines, 15000 characters',
  ])
  expect(other.short.split('\n')[0]).toBe('src/auth.ts')
  expect(one.short).toMatch(/… 2489 more lines[^]*\nall of it: heimdall approve --show 1f2e$/)
  expect(one.short.length).toBeLessThan(1_000)
  expect(one.whole.split('\n').filter((line) => line === '  | x = 1')).toHaveLength(2_500)
})

test('the order of keys changes nothing', () => {
  const members: [string, unknown][] = [
    ['new_string', 'b'],
    ['path', 'src/a.ts'],
    ['old_string', 'a'],
    ['dry_run', false],
    ['b', 1],
    ['a', 2],
    ['command', 'sed'],
  ]
  const first = textOf(Object.fromEntries(members))
  for (let i = 0; i < members.length; i += 1) {
    members.push(members.shift() as [string, unknown])
    expect(textOf(Object.fromEntries(members))).toEqual(first)
  }
  expect(first.whole).toBe(
    'command: sed, path: src/a.ts\ncommand: sed\npath: src/a.ts\nchange:\n  - a\n  + b\na: 2\nb: 1\ndry_run: false',
  )
})

describe('an edit is a diff', () => {
  test('of what differs, with a few lines around it', () => {
    const lines = Array.from({ length: 9 }, (_, i) => `line ${i}`)
    const after = lines.with(4, 'line four')
    const { whole } = textOf({ old_string: lines.join('\n'), new_string: after.join('\n'), file_path: 'a.ts' })
    expect(whole).toBe(
      'a.ts\nfile_path: a.ts\nchange:\n    line 2\n    line 3\n  - line 4\n  + line four\n    line 5\n    line 6',
    )
  })

  test('also in a list of edits, under the names of other tools', () => {
    const { whole } = textOf({
      edits: [
        { newText: 'y', oldText: 'x' },
        { oldText: 'p', newText: 'q' },
      ],
      path: 'a',
    })
    expect(whole).toBe('a\npath: a\nedits[0]:\n  - x\n  + y\nedits[1]:\n  - p\n  + q')
  })
})

test('a command of several lines shows that it goes on', () => {
  const { whole } = textOf({ command: 'echo ok\nrm -rf /' })
  expect(whole).toBe('echo ok ↵ rm -rf /\ncommand: 2 lines, 16 characters\n  | echo ok\n  | rm -rf /')
})

test('a second target does not hide behind the first, nor behind padding', () => {
  expect(textOf({ path: 'README.md', file_path: '/etc/passwd' }).short).toMatch(
    /^path: README\.md, file_path: \/etc\/passwd\n/,
  )
  expect(textOf('{"path":"README.md","path":"/etc/passwd"}').short).toMatch(/^path: README\.md, path: \/etc\/passwd\n/)
  const padded = `${'./'.repeat(4_000)}../../etc/passwd`
  expect(textOf({ path: padded }).short.split('\n')[0]).toMatch(/^\.\/.*…\[7936 characters\]….*\/etc\/passwd$/)
})

test('no text passes for a line of ours, and nothing unseen is in it', () => {
  const { whole } = textOf({ 'a\nb': 1, text: 'one\npath: README.md', path: 'x\u202egnp.exe' })
  expect(whole.split('\n')).toEqual([
    'x\\u{202e}gnp.exe',
    'path: x\\u{202e}gnp.exe',
    '"a\\nb": 1',
    'text: 2 lines, 19 characters',
    '  | one',
    '  | path: README.md',
  ])
})

test('secrets are redacted, by their names and by their shapes', () => {
  const { whole } = textOf({
    path: 'a',
    api_key: 'hunter',
    env: [{ name: 'DB_PASSWORD', value: 'swordfish' }],
    text: 'token ghp_abcdefghijklmnop1234',
  })
  expect(whole).not.toMatch(/hunter|swordfish|ghp_/)
  expect(whole).toContain('api_key: [REDACTED]')
})

test('thousands of arguments are cut behind the targets', () => {
  const args = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`a${i}`, i]))
  const { short, whole } = textOf({ ...args, command: 'rm -rf build' })
  expect(short).toMatch(/^rm -rf build\ncommand: rm -rf build\n[^]*… 4962 more lines\nall of it: /)
  expect(whole.split('\n')).toHaveLength(5_002)
})

test('without a target the first arguments are in the first line', () => {
  expect(textOf({ b: 2, a: 'x' }).whole).toBe('a: x, b: 2\na: x\nb: 2')
})

test('no arguments, and arguments that are too large', () => {
  expect(textOf({}).whole).toBe('no arguments')
  expect(callText(null, createRedact(), HOW).short).toContain('more than 1 MiB')
})
