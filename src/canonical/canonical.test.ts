// Canonical JSON: the published vectors, a second implementation, a library where both orders agree, and any chunking.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { scaled } from '../../test/support/scale.ts'
import { Refused, slowCanonical } from '../../test/support/slow-canonical.ts'
import { HeimdallError } from '../errors.ts'
import { IncrementalCanonical, canonicalBytes, canonicalHash, canonicalJson } from './canonical.ts'

interface Vector {
  readonly name: string
  readonly input?: string
  readonly input_hex?: string
  readonly canonical?: string
  readonly sha256?: string
  readonly error?: string
}

const { vectors } = JSON.parse(readFileSync('test/vectors/canonical.json', 'utf8')) as { vectors: readonly Vector[] }

function bytesOf(vector: Vector): Buffer {
  return vector.input_hex === undefined ? Buffer.from(vector.input ?? '') : Buffer.from(vector.input_hex, 'hex')
}

/** The canonical text, or the code of the refusal. */
function outcome(make: () => Buffer): string {
  try {
    return make().toString()
  } catch (error) {
    if (error instanceof HeimdallError) return error.code
    throw error
  }
}

function inPieces(bytes: Buffer, cuts: readonly number[]): Buffer {
  const incremental = new IncrementalCanonical()
  let from = 0
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    incremental.push(bytes.subarray(from, cut))
    from = cut
  }
  return incremental.bytes()
}

describe('seed 004 §1.9.1: the published vectors', () => {
  test.each(vectors)('$name', (vector) => {
    const bytes = bytesOf(vector)
    expect(outcome(() => canonicalBytes(bytes))).toBe(vector.canonical ?? vector.error)
    const everyByte = Array.from(bytes, (_, i) => i)
    expect(outcome(() => inPieces(bytes, everyByte))).toBe(vector.canonical ?? vector.error)
    if (vector.sha256 !== undefined) expect(canonicalHash(bytes)).toBe(vector.sha256)
    if (vector.input !== undefined)
      expect(outcome(() => canonicalBytes(vector.input ?? ''))).toBe(vector.canonical ?? vector.error)
  })

  test('each canonical text is its own canonical text', () => {
    for (const { canonical } of vectors)
      if (canonical !== undefined) expect(canonicalBytes(canonical).toString()).toBe(canonical)
  })
})

// JSON text of every spelling: spacing, escapes, number forms, key order, duplicate keys now and then.
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const character = fc.oneof(
  fc.constantFrom('a', 'b', 'B', '_', '<', '/', '\u007f', 'é', '\ue000', '\uffff', '😀', '\u{10000}', '\u2028'),
  fc.constantFrom('\\n', '\\u000a', '\\u0001', '\\u001F', '\\"', '\\\\', '\\/', '\\u0061', '\\ud83d\\ude00', '\\uFFFF'),
)
const stringText = fc.oneof(
  { weight: 8, arbitrary: fc.array(character, { maxLength: 4 }).map((chars) => `"${chars.join('')}"`) },
  { weight: 1, arbitrary: fc.array(character, { minLength: 40, maxLength: 90 }).map((chars) => `"${chars.join('')}"`) },
)
const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => JSON.stringify(double)),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
)
const { json: jsonText } = fc.letrec<{ json: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(stringText, numberText, fc.constantFrom('true', 'false', 'null', '{}', '[]')),
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc
      .tuple(space, fc.array(fc.tuple(tie('json'), space), { maxLength: 4 }))
      .map(([lead, items]) => `[${lead}${items.map(([item, gap]) => `${item}${gap}`).join(`,${lead}`)}]`),
    fc
      .tuple(space, fc.array(fc.tuple(stringText, space, tie('json')), { maxLength: 16, size: 'small' }))
      .map(
        ([lead, members]) =>
          `{${lead}${members.map(([key, gap, item]) => `${key}${gap}:${gap}${item}`).join(`${lead},`)}}`,
      ),
  ),
}))

const runs = { numRuns: scaled(100, 100_000) }

function slowOutcome(text: string): string | undefined {
  try {
    return slowCanonical(text)
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

function quickOutcome(make: () => Buffer): string | undefined {
  const result = outcome(make)
  return result.startsWith('JSON_') ? undefined : result
}

test('agrees with the second implementation on any spelling, whole and in pieces', () => {
  fc.assert(
    fc.property(jsonText, fc.array(fc.nat(400), { maxLength: 6 }), (text, cuts) => {
      const expected = slowOutcome(text)
      const bytes = Buffer.from(text)
      expect(quickOutcome(() => canonicalBytes(bytes))).toBe(expected)
      expect(
        quickOutcome(() =>
          inPieces(
            bytes,
            cuts.filter((cut) => cut < bytes.length),
          ),
        ),
      ).toBe(expected)
    }),
    runs,
  )
})

test('whatever stands where one block of a large text ends and the next begins', () => {
  const block = 64 << 10
  fc.assert(
    fc.property(jsonText, fc.nat(300), (text, back) => {
      const large = `["${'x'.repeat(block - back)}", ${text}, {"b":${text},"a":1}]`
      expect(quickOutcome(() => canonicalBytes(large))).toBe(slowOutcome(large))
    }),
    { numRuns: scaled(20, 10_000) },
  )
})

test('numbers that become longer push what is still to be read before them', () => {
  const row = '{"b":1e20,"a":[-1E+20,12e19, 5e-1],"c":"\\u00e9"}'
  for (const rows of [1, 40, 1_500]) {
    const text = `[${`${row},`.repeat(rows)}0]`
    expect(quickOutcome(() => canonicalBytes(text))).toBe(slowOutcome(text))
    const cuts = Array.from({ length: 6 }, (_, i) => Math.floor((text.length * (i + 1)) / 7))
    expect(quickOutcome(() => inPieces(Buffer.from(text), cuts))).toBe(slowOutcome(text))
  }
})

test('nothing of an earlier text is read again behind the end of a shorter one', () => {
  canonicalBytes(`[${' '.repeat(3_000)}${'1'.repeat(200)},true,"\\n${'n'.repeat(3_000)}"${' '.repeat(3_000)}]`)
  for (const text of ['1 ', '[1, 2 ]  ', 'true', '"a"', '{"b":1,"a":2} ', '12', '1.50', '"\\u0041"', ' '])
    expect(quickOutcome(() => canonicalBytes(text))).toBe(slowOutcome(text))
  for (const text of ['tru', '"a\\', '"a', '[1', '{"a":', '-', '1e', '"\\u00'])
    expect(outcome(() => canonicalBytes(text))).toBe('JSON_MALFORMED')
})

test('objects with many keys, in any order and with a key twice now and then', () => {
  const keys = fc.array(stringText, { minLength: 8, maxLength: 40, size: 'max' })
  fc.assert(
    fc.property(keys, (names) => {
      const text = `{${names.map((name, i) => `${name}:{"b":${i},"a":0}`).join(',')}}`
      expect(quickOutcome(() => canonicalBytes(text))).toBe(slowOutcome(text))
    }),
    { numRuns: scaled(80, 20_000) },
  )
})

test('takes and refuses the same damaged texts as the second implementation', () => {
  const damage = fc.tuple(
    fc.nat(400),
    fc.nat(2),
    fc.constantFrom('', '"', '\\', ',', ':', '{', ']', '0', '-', '.', 'e', ' ', '\n', '\u0000', '\u00a0'),
  )
  fc.assert(
    fc.property(jsonText, damage, (text, [at, removed, inserted]) => {
      const where = at % (text.length + 1)
      const damaged = text.slice(0, where) + inserted + text.slice(where + removed)
      expect(quickOutcome(() => canonicalBytes(damaged))).toBe(slowOutcome(damaged))
    }),
    runs,
  )
})

test('never fails in any other way than by a JSON_ code, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      outcome(() => canonicalBytes(bytes))
    }),
    runs,
  )
})

test('agrees with the library `canonicalize` wherever UTF-16 order is code point order', () => {
  const agrees = (value: unknown): boolean => !/[\ud800-\udfff\ue000-\uffff]/.test(JSON.stringify(value))
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }).filter(agrees), (value) => {
      expect(canonicalBytes(JSON.stringify(value)).toString()).toBe(canonicalize(value))
      expect(canonicalJson(value)).toBe(canonicalize(value))
    }),
    runs,
  )
})

test('a value in memory and its text have one canonical form', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalBytes(JSON.stringify(value)).toString())
    }),
    runs,
  )
})

test('canonicalJson refuses what JSON has no word for', () => {
  const code = (value: unknown): string => outcome(() => Buffer.from(canonicalJson(value)))
  expect(code({ a: undefined })).toBe('JSON_MALFORMED')
  expect(code([1n])).toBe('JSON_MALFORMED')
  expect(code(new Date(0))).toBe('JSON_MALFORMED')
  expect(code(Number.NaN)).toBe('JSON_NUMBER_RANGE')
  expect(code({ a: '\ud800' })).toBe('JSON_LONE_SURROGATE')
  const loop: unknown[] = []
  loop.push(loop)
  expect(code(loop)).toBe('JSON_TOO_DEEP')
})

test('a string with half a surrogate pair is refused before it is encoded', () => {
  expect(outcome(() => canonicalBytes('"\ud800"'))).toBe('JSON_LONE_SURROGATE')
})

test('1,000 levels are read, one more is refused, a million are refused as quickly', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  expect(canonicalBytes(nested(1_000)).toString()).toBe(nested(1_000))
  expect(outcome(() => canonicalBytes(nested(1_001)))).toBe('JSON_TOO_DEEP')
  expect(outcome(() => canonicalBytes('{"a":'.repeat(1_001)))).toBe('JSON_TOO_DEEP')
  expect(outcome(() => canonicalBytes('['.repeat(1_000_000)))).toBe('JSON_TOO_DEEP')
})

test('a failed text leaves nothing behind for the next one', () => {
  expect(outcome(() => canonicalBytes('{"b":1,"a":"\\ud83d'))).toBe('JSON_MALFORMED')
  expect(canonicalBytes('{"b":1,"a":"\\u0041"}').toString()).toBe('{"a":"A","b":1}')
})

test('large input in pieces hashes like the whole', () => {
  const rows = Array.from({ length: scaled(2_000, 500_000) }, (_, i) => ({
    path: `src/${i}.ts`,
    line: i,
    body: 'x\n'.repeat(i % 7),
  }))
  const bytes = Buffer.from(JSON.stringify({ rows }, null, 1))
  const incremental = new IncrementalCanonical()
  for (let at = 0; at < bytes.length; at += 65_536) incremental.push(bytes.subarray(at, at + 65_536))
  const expected = createHash('sha256')
    .update(canonicalize({ rows }) ?? '')
    .digest('hex')
  expect(incremental.digest()).toBe(expected)
  expect(canonicalHash(bytes)).toBe(expected)
})
