// Which names say of the value beside them that it is a secret: keys of JSON, names of flags, words in text.

/** At the end of a key, in lower case, also with `_` where a capital began a word: `DB_PASS`, `userPass` and `x-api-key` are such, `bypass`, `author` and `max_tokens` are not. */
const SECRET_KEY =
  /(?:^|[^a-z])(?:pass|pwd|auth|token|cookies?)$|(?:passw(?:or)?d|passphrase|secret|credential|(?:api|private|secret|access)[_-]?key|authorization)s?$/

/** `name` is the key as it is read, with its escapes undone. */
export function isSecretKey(name: string): boolean {
  // Longer than any name; what it holds is looked at all the same.
  if (name.length > 128) return false
  return (
    SECRET_KEY.test(name.toLowerCase()) || SECRET_KEY.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase())
  )
}

/** `--password`, `--api-key`, and the like: what follows is the secret. */
export function isSecretFlag(text: string): boolean {
  return text.startsWith('--') && !text.includes('=') && isSecretKey(text.slice(2))
}

/** As part of an expression: the words in running text, where there are no quotes to tell where a key begins. */
export const SECRET_WORD = [
  '[Pp]assw(?:or)?d',
  'PASSW(?:OR)?D',
  '[Pp]assphrase',
  '[Ss]ecret(?:[_-]?(?:[Aa]ccess[_-]?)?[Kk]ey)?',
  'SECRET(?:_ACCESS)?(?:_KEY)?',
  '[Tt]oken',
  'TOKEN',
  '[Aa]pi[_-]?[Kk]ey',
  'API[_-]?KEY',
  '[Pp]rivate[_-]?[Kk]ey',
  'PRIVATE_KEY',
  '[Cc]redentials?',
  'CREDENTIALS?',
  '[Aa]uthorization',
  'AUTHORIZATION',
  '[Cc]ookie',
  'COOKIE',
  // Short ones only as a word of their own, or behind `_`. A bare PWD is a folder.
  '(?<![A-Za-z])(?:[Pp]ass|PASS|[Pp]wd|[Aa]uth|AUTH)',
  '_PWD',
].join('|')
