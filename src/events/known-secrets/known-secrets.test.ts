// Seed 004 §6.4: no injected secret in anything that we write, whatever form it stands in and wherever the pieces are cut.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { KnownSecrets } from './known-secrets.ts'
import { StreamRedactor, withoutSecrets } from './stream-redactor.ts'

const MARK = '[REDACTED]'
const json = (text: string): string => JSON.stringify(text).slice(1, -1)
const all = (text: string, spell: (byte: string) => string): string =>
  [...Buffer.from(text)].map((byte) => spell(byte.toString(16).padStart(2, '0'))).join('')

/** Each as another program writes it, with the letters around it that make it hard. */
const ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'base64, first phase': (secret) => Buffer.from(`${secret}x`).toString('base64'),
  'base64, second phase': (secret) => Buffer.from(`:${secret}x`).toString('base64'),
  'base64, third phase': (secret) => Buffer.from(`u:${secret}x`).toString('base64url'),
  'hex, small': (secret) => Buffer.from(secret).toString('hex'),
  'hex, capitals': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'percent, where needed': encodeURIComponent,
  'percent, everywhere': (secret) => all(secret, (byte) => `%${byte}`),
  json,
  'json, twice over': (secret) => json(json(secret)),
  'json, everywhere': (secret) =>
    secret
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  'address in json': (secret) => json(`https://x.test/?q="${encodeURIComponent(secret)}"`),
}

const CHARACTERS = Array.from('abcXYZ019+/=_-."\\\n\t %&<>éß☃😀')
const SECRETS = Array.from({ length: 50 }, (_, i) => {
  const length = 6 + ((i * 7) % 23)
  return Array.from({ length }, (_, j) => CHARACTERS[(i * 31 + j * (i + 3) + ((j * j) % 7)) % CHARACTERS.length]).join(
    '',
  )
})

/** What still tells the secret: it, or enough of the letters that were written for it. */
function leaks(text: string, secret: string, written: string): boolean {
  return text.includes(secret) || text.includes(written.slice(2, -2))
}

for (const [name, encode] of Object.entries(ENCODINGS))
  test(`${name}: no secret is left, wherever the pieces are cut`, () => {
    const secrets = new KnownSecrets(SECRETS)
    for (const secret of SECRETS.slice(0, scaled(8, 50))) {
      const written = encode(secret)
      const text = Buffer.from(`say ${written}" and go on`)
      const whole = withoutSecrets(text, secrets, MARK).toString()
      expect(leaks(whole, secret, written), JSON.stringify([secret, written, whole])).toBe(false)
      expect(whole).toContain(MARK)
      expect(whole.startsWith('say ') && whole.endsWith(' and go on'), whole).toBe(true)
      for (let cut = 1; cut < text.length; cut += 1) {
        const redactor = new StreamRedactor(secrets, MARK)
        const pieces = [redactor.push(text.subarray(0, cut)), redactor.push(text.subarray(cut)), redactor.end()]
        expect(Buffer.concat(pieces).toString(), `cut at ${cut}`).toBe(whole)
      }
    }
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
    { numRuns: scaled(300, 20_000) },
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
