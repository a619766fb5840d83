// Previews: redacted first, cut afterwards, where a character ends (seed 004 §1.10).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { LOG_LINE_BYTES_MAX, MAX_PREVIEW_BYTES } from '../limits.ts'
import { KnownSecrets } from '../known-secrets/known-secrets.ts'
import { jsonValue } from './json-text.ts'
import { cutAtBytes, previewOf } from './preview.ts'
import { createRedact, type Redact } from './redact.ts'
import { REDACTED } from './redact.ts'

const redact = createRedact(new KnownSecrets(['the-known-secret']))
const asItIs: Redact = Object.assign((text: string) => text, { known: null, beginning: String })
function textOf(field: 'args_preview' | 'result_preview', bytes: Buffer, how: Redact): string {
  return jsonValue(previewOf({ field, piece: { buffer: bytes, from: 0, to: bytes.length }, redact: how }))
}
const preview = (text: string | Buffer): { truncated: boolean; args_preview: string } =>
  JSON.parse(textOf('args_preview', Buffer.from(text), redact)) as { truncated: boolean; args_preview: string }

test('16,384 bytes are shown whole, one more is cut', () => {
  const text = 'x'.repeat(MAX_PREVIEW_BYTES)
  expect(preview(text)).toEqual({ truncated: false, args_preview: text })
  expect(preview(`${text}y`)).toEqual({ truncated: true, args_preview: text })
})

test.each(['é', '€', '😀', 'e\u0301', '👩‍👩‍👧'])('a cut never goes through %s', (character) => {
  const bytes = Buffer.byteLength(character)
  for (let lead = 0; lead < bytes; lead += 1) {
    const { args_preview, truncated } = preview('x'.repeat(lead) + character.repeat(MAX_PREVIEW_BYTES))
    expect(truncated).toBe(true)
    expect(args_preview).not.toContain('\ufffd')
    expect(Buffer.byteLength(args_preview)).toBeGreaterThan(MAX_PREVIEW_BYTES - 4)
    expect(Buffer.byteLength(args_preview)).toBeLessThanOrEqual(MAX_PREVIEW_BYTES)
  }
})

test('the longest beginning that fits, for any text and any length', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), fc.nat(200), (text, max) => {
      const cut = cutAtBytes(text, max)
      expect(text.startsWith(cut)).toBe(true)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max)
      const next = text.codePointAt(cut.length)
      if (next === undefined) return
      expect(Buffer.byteLength(cut) + Buffer.byteLength(String.fromCodePoint(next))).toBeGreaterThan(max)
    }),
  )
})

test('a secret across the cut is taken out whole', () => {
  for (let before = MAX_PREVIEW_BYTES - 30; before <= MAX_PREVIEW_BYTES; before += 1) {
    const { args_preview } = preview(`${' '.repeat(before)}the-known-secret ghp_abcdefghijkl ${'y'.repeat(20_000)}`)
    const [, tail = ''] = /([^ ]*)$/.exec(args_preview) ?? []
    expect(`${REDACTED} ${REDACTED}`.includes(tail) || /^y*$/.test(tail)).toBe(true)
    expect(args_preview).not.toMatch(/the-k|ghp_/)
  }
})

test('nothing behind the value is shown, however much of it was taken out', () => {
  for (const length of [MAX_PREVIEW_BYTES, MAX_PREVIEW_BYTES + 1, MAX_PREVIEW_BYTES + 5_000]) {
    const value = `{"password":"${'p'.repeat(length - 15)}"}`
    const buffer = Buffer.from(`{"id":1,"result":${value}}\n{"id":2,"result":"of another call"}\n`)
    const piece = { buffer, from: 17, to: 17 + value.length }
    const shown = previewOf({ field: 'result_preview', piece, redact })
    expect(`{"password":"${REDACTED}"}`.startsWith(shown.result_preview ?? '-')).toBe(true)
    expect(shown.result_preview).toContain(REDACTED)
    expect(shown.truncated).toBe(length > MAX_PREVIEW_BYTES)
  }
})

test('half a secret where reading ended is not shown because others before it were taken out', () => {
  const long = `{"password":"${'p'.repeat(10_000)}","text":"`
  for (let half = 1; half < 16; half += 1) {
    const filler = ' '.repeat(MAX_PREVIEW_BYTES + 4_096 - long.length - half)
    const { args_preview, truncated } = preview(`${long}${filler}the-known-secret${' '.repeat(100)}"}`)
    expect(args_preview).toMatch(/^\{"password":"\[REDACTED\]","text":" +$/)
    expect(truncated).toBe(true)
  }
})

test('a result that is nothing but escapes still fits into a line of a log', () => {
  const line = textOf('result_preview', Buffer.from('\u2028'.repeat(20_000)), redact)
  expect(Buffer.byteLength(line)).toBeLessThan(LOG_LINE_BYTES_MAX - 8_192)
  expect(JSON.parse(line)).toMatchObject({ truncated: true })
})

test('one line, and nothing in it that a terminal would obey', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const line = textOf('args_preview', Buffer.from(text), asItIs)
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/)
      expect(JSON.parse(line)).toEqual({ truncated: false, args_preview: Buffer.from(text).toString() })
    }),
  )
})
