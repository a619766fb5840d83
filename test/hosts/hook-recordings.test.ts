// What real hosts hand to their hooks, from recordings: every payload is understood, and every write in it is found. All recordings are of the hosts that are pinned.
import { expect, test } from 'vitest'
import { readHook } from '../../src/hosts/hooks/hook-call.ts'
import pinned from '../../scripts/hosts.json' with { type: 'json' }
import { castPath, readCast } from '../support/hosts/casts.ts'
import { PERMISSIONS, QUESTION } from '../support/hosts/prompts.ts'
import { recording } from '../support/hosts/recordings.ts'

test.each(['claude', 'codex', 'gemini'] as const)(
  '%s: recorded payloads are read, and what they write is known',
  (host) => {
    const calls = recording(host, 'hooks.jsonl')
      .trimEnd()
      .split('\n')
      .map((text) => {
        const read = readHook(host, text)
        if (!('call' in read)) throw new Error(`${JSON.stringify(read)}: ${text}`)
        return read.call
      })
    expect(calls.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['session-start', 'prompt', 'before-tool', 'after-tool', 'turn-end', 'session-end']),
    )
    expect(new Set(calls.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(calls.every(({ sessionId, cwd }) => sessionId !== undefined && cwd === '/work/project')).toBe(true)
    const before = calls.filter(({ event }) => event === 'before-tool').map(({ tool }) => tool)
    expect(before.flatMap((tool) => tool?.targets.map(({ path }) => path) ?? []).toSorted()).toEqual([
      '/work/project/b.txt',
      'a.txt',
    ])
    expect(before.filter((tool) => tool?.isShell)).toHaveLength(1)
  },
)

test.each(['claude', 'codex', 'gemini'] as const)('%s: the question to a person is read as one', (host) => {
  const calls = recording(host, 'asks.jsonl')
    .trimEnd()
    .split('\n')
    .map((text) => readHook(host, text))
  expect(calls.length).toBeGreaterThan(0)
  for (const read of calls) expect(read).toMatchObject({ call: { event: 'asks-person', cwd: '/work/project' } })
})

test('hook payloads, transcripts and screens are of the versions that test:hosts runs', () => {
  const { claude, codex, gemini } = pinned
  for (const [host, { title, version }] of Object.entries({ claude, codex, gemini }))
    expect(JSON.parse(recording(host as 'claude', 'host.json'))).toEqual({ title, version })
  for (const { cast, host } of [...PERMISSIONS, QUESTION])
    expect(readCast(castPath(cast)).head).toMatchObject({ host, host_version: pinned[host].version })
})
