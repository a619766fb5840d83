// Seed 004 §6.4: no injected secret in anything that we write, whatever form it stands in and wherever the pieces are cut.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { HARD_SECRETS, SECRET_FORMS, tells } from '../../test/support/secret-forms.ts'
import { KnownSecrets } from './known-secrets.ts'
import { StreamRedactor, withoutSecrets } from './stream-redactor.ts'

const MARK = '[REDACTED]'
for (const [name, encode] of Object.entries(SECRET_FORMS))
  test(`${name}: no secret is left, wherever the pieces are cut`, () => {
    const secrets = new KnownSecrets(HARD_SECRETS)
    for (const secret of HARD_SECRETS.slice(0, scaled(8, 50))) {
      const written = encode(secret)
      const text = Buffer.from(`say ${written}" and go on`)
      const whole = withoutSecrets(text, secrets, MARK).toString()
      expect(tells(whole, secret, written), JSON.stringify([secret, written, whole])).toBe(false)
      expect(whole).toContain(MARK)
      expect(whole.startsWith('say ') && whole.endsWith(' and go on'), whole).toBe(true)
      for (let cut = 1; cut < text.length; cut += 1) {
        const redactor = new StreamRedactor(secrets, MARK)
        const pieces = [redactor.push(text.subarray(0, cut)), redactor.push(text.subarray(cut)), redactor.end()]
        expect(Buffer.concat(pieces).toString(), `cut at ${cut}`).toBe(whole)
      }
    }
  })

test('escaped again by each that quotes it, a secret is still found', () => {
  const secret = 'a "quoted"\nsecret'
  let text = secret
  for (let depth = 1; depth <= 6; depth += 1) {
    text = JSON.stringify({ text })
    expect(withoutSecrets(Buffer.from(text), new KnownSecrets([secret]), MARK).toString(), `depth ${depth}`).toContain(
      MARK,
    )
  }
})

test('base64 in lines is read as one, wherever it is cut; what only stands at the end of a line leaves the line its end', () => {
  const key = `-----BEGIN KEY-----\n${'0123456789abcdefghijABCDEFGHIJ_'.repeat(4)}\n-----END KEY-----`
  const secrets = new KnownSecrets([key, 'a-token-of-letters'])
  const base64 = Buffer.from(`{"key": ${JSON.stringify(key)}}`).toString('base64')
  for (const width of [64, 76])
    for (const lineEnd of ['\n', '\r\n', '\\n', '\\\\n', '\n  ']) {
      const text = Buffer.from(`key: ${base64.replace(new RegExp(`.{${width}}(?=.)`, 'g'), `$&${lineEnd}`)}`)
      const whole = withoutSecrets(text, secrets, MARK).toString()
      expect(whole.split(MARK), JSON.stringify(whole)).toHaveLength(2)
      expect(whole.length, JSON.stringify(whole)).toBeLessThan(60)
      for (let cut = 1; cut < text.length; cut += 1) {
        const redactor = new StreamRedactor(secrets, MARK)
        const pieces = [redactor.push(text.subarray(0, cut)), redactor.push(text.subarray(cut)), redactor.end()]
        expect(Buffer.concat(pieces).toString(), `cut at ${cut}`).toBe(whole)
      }
    }
  const lines = Buffer.from('use a-token-of-letters\na-token-of-letters\nis it')
  expect(withoutSecrets(lines, secrets, MARK).toString()).toBe(`use ${MARK}\n${MARK}\nis it`)
})

test('cut anywhere any number of times, the outcome is that of the whole', () => {
  const few = new KnownSecrets(['abcabd', 'abdabc', 'bdab\\n', '%41%42cd', 'u0041abc'])
  const letters = fc.constantFrom(
    'abcabd',
    'abdabc',
    'a',
    'b',
    'd',
    '\\',
    '\\n',
    '%',
    '%41',
    '%25',
    '\\u0061',
    '\\\\u0041',
  )
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 30 }), fc.array(fc.nat(200), { maxLength: 20 }), (words, cuts) => {
      const text = Buffer.from(words.join(''))
      const whole = withoutSecrets(text, few, MARK).toString()
      const redactor = new StreamRedactor(few, MARK)
      const out: Buffer[] = []
      let at = 0
      for (const cut of [...cuts.map((one) => one % (text.length + 1)).sort((a, b) => a - b), text.length]) {
        out.push(redactor.push(text.subarray(at, cut)))
        at = cut
      }
      out.push(redactor.end())
      expect(Buffer.concat(out).toString()).toBe(whole)
      for (const secret of ['abcabd', 'abdabc']) expect(whole).not.toContain(secret)
    }),
    { numRuns: scaled(100, 20_000) },
  )
})

test('text without secrets passes unchanged, and nothing of it waits but what may have begun', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const secrets = new KnownSecrets(['correct horse battery', 'p4ss-w0rd'])
      expect(withoutSecrets(Buffer.from(bytes), secrets, MARK)).toEqual(Buffer.from(bytes))
    }),
  )
  const redactor = new StreamRedactor(new KnownSecrets(['correct horse battery']), MARK)
  expect(redactor.push(Buffer.from('a line\n')).toString()).toBe('a line\n')
  expect(redactor.push(Buffer.from('is this correct h')).toString()).toBe('is this ')
  expect(redactor.push(Buffer.from('elp?\n')).toString()).toBe('correct help?\n')
})
