// 320 attempts to get a denied call past the shim, thought out by somebody who did not write its reader (seed 004 §7.2). None may reach the server in any reading, and what is refused stands in the record.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  bundle,
  checkBooks,
  deny,
  type Json,
  ofType,
  type ShimClient,
  startShim,
  tool,
} from '../support/shim-client.ts'

interface Attempt {
  readonly name: string
  /** `passed-harmless`: something of it goes on, but nothing that a server could take for a denied call. */
  readonly verdict: 'refused' | 'passed-harmless'
  /** One character for each byte; a pair is a piece and how often it stands there. */
  readonly bytes: readonly (string | readonly [string, number])[]
}

const ATTEMPTS = JSON.parse(
  readFileSync(join(import.meta.dirname, '../vectors/smuggling-attempts.json'), 'utf8'),
) as readonly Attempt[]

const POLICY = bundle([deny('no-evil', tool('evil')), deny('no-force', { args: { key_equals: { force: true } } })])

const ENDS_LINE = ATTEMPTS.filter((attempt) => bytesOf(attempt).at(-1) === 0x0a)
const OPEN_ENDED = ATTEMPTS.filter((attempt) => !ENDS_LINE.includes(attempt))
const REFUSED = ENDS_LINE.filter(({ verdict }) => verdict === 'refused')
const HARMLESS = ENDS_LINE.filter(({ verdict }) => verdict === 'passed-harmless')

test('the vectors are all there', () => {
  expect([REFUSED.length, HARMLESS.length, OPEN_ENDED.length]).toEqual([272, 40, 8])
})

test('of the refused ones not a byte reaches the server, and each has its decision', { timeout: 120_000 }, async () => {
  const shim = startShim({ policy: POLICY })
  for (const [i, attempt] of REFUSED.entries()) {
    shim.program.stdin.write(bytesOf(attempt))
    shim.send(mark(i))
  }
  // A server that is still starting when the input ends is ended with it.
  await shim.answer('mark-0')
  const { events } = await shim.end()
  expect(shim.received()).toBe(REFUSED.map((_, i) => `${JSON.stringify(mark(i))}\n`).join(''))
  const blocked = blockedBeforeMarks(events)
  expect(REFUSED.filter((_, i) => (blocked[i] ?? 0) === 0).map(({ name }) => name)).toEqual([])
  expect(checkBooks(events)).toEqual([])
})

test('of those that go on nothing can be read as a denied call', { timeout: 120_000 }, async () => {
  const shim = startShim({ policy: POLICY })
  for (const [i, attempt] of HARMLESS.entries()) {
    shim.program.stdin.write(bytesOf(attempt))
    shim.send(mark(i))
    // They all bear the same id: the one before has to be answered, or this one is refused for that.
    await shim.answer(`mark-${i}`)
  }
  const { events } = await shim.end()
  expect(deniedIn(shim)).toEqual([])
  for (const line of shim.received().trimEnd().split('\n')) expect(() => JSON.parse(line), line).not.toThrow()
  const received = shim.received()
  const silent = HARMLESS.filter((_, i) => {
    const before = i === 0 ? 0 : received.indexOf(JSON.stringify(mark(i - 1))) + JSON.stringify(mark(i - 1)).length + 1
    return received.startsWith(JSON.stringify(mark(i)), before)
  })
  expect(silent.map(({ name }) => name)).toEqual([])
  expect(checkBooks(events)).toEqual([])
})

test('a line that the end of the input cuts off is no way through', { timeout: 120_000 }, async () => {
  await Promise.all(
    OPEN_ENDED.map(async (attempt) => {
      const shim = startShim({ policy: POLICY })
      shim.program.stdin.write(bytesOf(attempt))
      const { events } = await shim.end()
      expect(deniedIn(shim), attempt.name).toEqual([])
      if (attempt.verdict === 'refused') expect(shim.received(), attempt.name).toBe('')
      expect(ofType(events, 'tool_call_decision').filter(isBlock).length, attempt.name).toBeGreaterThan(0)
    }),
  )
})

test('the judge sees what a lenient server would', () => {
  const params = '"params":{"name":"evil"}'
  for (const line of [
    `{"method":"tools/call",${params}}`,
    `{"method":"tools/call","method":"ping",${params}}`,
    `{"method":"ping","\\u006dethod":"tools/call","param\u017F":{"name":"ok","NAME":"evil"}}`,
    `[{"method":"tools/call","params":{"name":"push","arguments":{"force":true,"force":false}}}]`,
    `{"x":\r{"method":"tools/call",${params}}\r}`,
  ])
    expect(deniedLines(line), line).toEqual([line])
  expect(deniedLines('{"method":"tools/call","params":{"name":"ok","arguments":{"a":"evil"}}}')).toEqual([])
})

function bytesOf({ bytes }: Attempt): Buffer {
  return Buffer.from(
    bytes.map((piece) => (typeof piece === 'string' ? piece : piece[0].repeat(piece[1]))).join(''),
    'latin1',
  )
}

/** An allowed call that shows in the record, and at the server, where one attempt ends. */
function mark(i: number): object {
  return { jsonrpc: '2.0', id: `mark-${i}`, method: 'tools/call', params: { name: `mark-${i}`, arguments: {} } }
}

const isBlock = (event: Json): boolean => event['decision'].action === 'BLOCK'

function blockedBeforeMarks(events: readonly Json[]): number[] {
  const counts = [0]
  for (const event of ofType(events, 'tool_call_decision'))
    if (String(event['call'].tool_name).startsWith('mark-')) counts.push(0)
    else if (isBlock(event)) counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1
  return counts
}

// -- the judge: JSON.parse, with every member of an object kept, so that whichever of two a server takes is looked at

const deniedIn = (shim: ShimClient): string[] => deniedLines(shim.received())

function deniedLines(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => [line, ...line.split(/[\r\u2028\u2029]/u)].some((part) => isDenied(everyMember(part))))
}

/** Numbers the keys in the text, so that none replaces another. */
function everyMember(text: string): unknown {
  let n = 0
  const numbered = text.replaceAll(/"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gu, (all, key: string, colon?: string) =>
    colon === undefined ? all : `"${(n += 1)}#${key}":`,
  )
  try {
    return JSON.parse(numbered)
  } catch {
    return undefined // A piece of a line; that whole lines are JSON is looked at by itself.
  }
}

function members(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  // Up and down again: ſ and the Kelvin sign fold into s and k.
  const fold = (key: string): string => key.replace(/^\d+#/u, '').toUpperCase().toLowerCase()
  return Object.entries(value).flatMap(([key, member]) => (fold(key) === name ? [member] : []))
}

function isDenied(message: unknown): boolean {
  if (Array.isArray(message)) return message.some(isDenied)
  if (!members(message, 'method').includes('tools/call')) return false
  return members(message, 'params').some(
    (params) =>
      members(params, 'name').includes('evil') ||
      members(params, 'arguments').some((args) => members(args, 'force').includes(true)),
  )
}
