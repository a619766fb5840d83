// Secrets that are hard to find, and every form in which another program may write them.

const json = (text: string): string => JSON.stringify(text).slice(1, -1)
const all = (text: string, spell: (byte: string) => string): string =>
  [...Buffer.from(text)].map((byte) => spell(byte.toString(16).padStart(2, '0'))).join('')

/** Each with the letters around it that make it hard. */
export const SECRET_FORMS: Readonly<Record<string, (secret: string) => string>> = {
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
  'base64 of json': (secret) => Buffer.from(`{"k": "${json(secret)}"}`).toString('base64'),
  'hex of json': (secret) => Buffer.from(json(secret)).toString('hex'),
  'percent of json': (secret) => encodeURIComponent(json(secret)),
  'address in json': (secret) => json(`https://x.test/?q="${encodeURIComponent(secret)}"`),
}

const CHARACTERS = Array.from('abcXYZ019+/=_-."\\\n\t %&<>éß☃😀')

/** With quotes, newlines and other letters than English ones in them. */
export const HARD_SECRETS: readonly string[] = Array.from({ length: 50 }, (_, i) => {
  const length = 6 + ((i * 7) % 23)
  return Array.from({ length }, (_, j) => CHARACTERS[(i * 31 + j * (i + 3) + ((j * j) % 7)) % CHARACTERS.length]).join(
    '',
  )
})

/** What still tells the secret: it, or enough of the letters that were written for it; also inside JSON. */
export function tells(text: string, secret: string, written: string): boolean {
  const core = written.slice(2, -2)
  // So few letters stand in any text.
  const cores = core.length < 5 ? [] : [core, json(core), json(json(core))]
  return [secret, json(secret), ...cores].some((form) => text.includes(form))
}
