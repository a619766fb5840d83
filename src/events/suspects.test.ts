// The glance before the look: it may suspect the innocent, but it never lets pass what the look would take out.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { LineBytes } from './line-bytes.ts'
import { createRedact } from './redact.ts'
import { mayHoldSecret } from './secret-hint.ts'

const around = fc.stringMatching(/^[ -~]{0,40}$/)
const secret = fc.oneof(
  fc.stringMatching(/^sk-[A-Za-z0-9_-]{6,9}$/),
  fc.stringMatching(/^gh[pousr]_[A-Za-z0-9]{6,9}$/),
  fc.stringMatching(/^github_pat_[A-Za-z0-9_]{10,12}$/),
  fc.stringMatching(/^glpat-[A-Za-z0-9_-]{10,12}$/),
  fc.stringMatching(/^xox[abeoprs]-[A-Za-z0-9-]{8,9}$/),
  fc.stringMatching(/^AKIA[0-9A-Z]{12,14}$/),
  fc.stringMatching(/^AIza[0-9A-Za-z_-]{20,22}$/),
  fc.stringMatching(/^npm_[A-Za-z0-9]{20,22}$/),
  fc.stringMatching(/^eyJ[a-z0-9_-]{8,10}\.[A-Za-z0-9_-]{8,10}\.[A-Za-z0-9_-]*$/),
  fc.stringMatching(/^-----BEGIN (RSA )?PRIVATE KEY-----[A-Za-z0-9+/=]{0,9}$/),
  fc.stringMatching(/^[Bb]earer [A-Za-z0-9._~+/=-]{8,10}$/),
  fc.stringMatching(/^[Aa]uthorization: [a-z]{4,9}$/),
  fc.stringMatching(/^AUTHORIZATION=[a-z]{4,9}$/),
  fc.stringMatching(/^[a-z]{2,5}:\/\/[a-z]{0,5}:[a-z0-9]{1,9}@$/),
  fc.stringMatching(/^([Pp]assw(or)?d|PASSW(OR)?D|[Pp]assphrase|[Ss]ecret|SECRET_KEY)["']?: ?["']?[a-z]{4,9}$/),
  fc.stringMatching(/^([Tt]oken|TOKEN|[Aa]pi[_-]?[Kk]ey|API[_-]?KEY)["']?[:=]["']?[a-z]{4,9}$/),
  fc.stringMatching(/^([Pp]assword|PASSWORD)[a-z_-]{1,9}$/),
  fc.stringMatching(/^[sr]k_(live|test)_[A-Za-z0-9]{6,9}$/),
  fc.stringMatching(
    /^(hf_[A-Za-z0-9]{10,12}|ya29\.[A-Za-z0-9_-]{6,9}|SG\.[A-Za-z0-9_-]{6,9}|do[opr]_v1_[a-z0-9]{6,9})$/,
  ),
  fc.stringMatching(
    /^"(db_|X-)?([Pp]ass|PASS|[Pp]wd|[Cc]ookie|[Cc]redentials|[Pp]rivate_key|[Aa]ccessKey|[Aa]uth|passWord)": ?("[a-z]{1,9}"|\["[a-z]"|\{"a":1)$/,
  ),
  fc.stringMatching(/^(--password|--api-key|--token) [a-z]{4,9}$/),
  fc.stringMatching(/^(-u|--user)( |", ?")[a-z]{1,5}:[a-z]{1,5}$/),
  fc.stringMatching(/^"(p\\u0061ss|text)":"(\\u0073k-[a-z]{8})"$/),
)

const isPassed = (text: string): boolean => {
  const buffer = Buffer.from(text)
  const line = new LineBytes()
  return line.escaped({ buffer, from: 0, to: buffer.length })
}

test('what the look takes out, the glance stops', () => {
  const redact = createRedact()
  fc.assert(
    fc.property(around, secret, around, (before, value, after) => {
      const text = `${before} ${value} ${after}`
      fc.pre(redact(text) !== text)
      expect(isPassed(text)).toBe(false)
      expect(mayHoldSecret(text)).toBe(true)
    }),
    { numRuns: scaled(600, 20_000) },
  )
})

test('ordinary text passes', () => {
  for (const text of [
    '{"path":"src/module.ts","content":"export const answer = 42 // a line like a real one"}',
    'a plain idea',
    '{}',
  ])
    expect(isPassed(text)).toBe(true)
})

test('a command line without a sign of one is not looked at; letters that may hide others are', () => {
  expect(mayHoldSecret('claude --model opus src/api.ts')).toBe(false)
  expect(mayHoldSecret('to\u200bken=hunter22')).toBe(true)
})
