// Which names say of the value beside them that it is a secret: keys of JSON, names of flags and variables, words in text.

/**
 * What the value of such a name looks like where no quotes say where it ends: a `word`, a `phrase` that may have blanks in
 * it, or all of the `line`. `words` is a word as well, but numbers under it are no secrets: they count tokens.
 */
export type SecretKind = 'word' | 'words' | 'phrase' | 'line'

/** Inside a name, whatever stands around it. */
const PHRASE = /passw(?:or)?d|passphrase|passcode|(?:store|key|require)pass$/
const LINE = /authorization|cookies?$/
const CONNECTION = /(?:^|_)conn(?:ection)?_?str(?:ing)?$/
const WORD = /credential|(?:secret|bearer|jwt)s?$|sess(?:ion)?id$/
/** Words of their own at the end of a name, or before a part of `OF_VALUE`: `DB_PASS` is one, `bypass` and `spinner` are not. */
const LAST: Readonly<Record<string, SecretKind>> = {
  pass: 'phrase',
  pwd: 'phrase',
  token: 'word',
  tokens: 'words',
  auth: 'word',
  otp: 'word',
  pin: 'word',
  dsn: 'word',
  creds: 'word',
  secret: 'word',
  secrets: 'word',
  bearer: 'word',
  jwt: 'word',
}
const KEY_OF =
  /(?:^|_)(?:(?:api|priv(?:ate)?|secret|access|signing|enc(?:ryption)?|ssh|account|session|pass|license|subscription)_?|(?:signature|decryption|auth|shared|master|deploy|hmac|aes|rsa|gpg|pgp|host|webhook|service)_)keys?(?:$|_)|(?:^|_)(?:gh|github|gitlab|ado|azure|devops)_pat$/
/** Without anything between the words, also behind a prefix: `ddapikey`. */
const GLUED_KEY = /(?:api|priv(?:ate)?|secret|access|signing|encryption|ssh|account|session|license|subscription)keys?$/
const TOKEN_OF = /(?:auth|access|refresh|api|session|csrf|xsrf|bearer|user|bot|device|client|id)tokens?$/
/** Said of a secret, not the secret: `password_length`, `token_count`, `secretName`, `access_key_id`. */
const ABOUT = new Set(
  (
    'name names type types kind count counts counter length len size min max limit limits budget used usage policy rule rules field fields ' +
    'label placeholder url uri urls endpoint path paths file files dir ttl expiry expires expiration age at in enabled disabled required ' +
    'optional hint version arn ref reference reset changed manager rotation strength prompt scope scopes id ids index position offset ' +
    'visible valid validator error errors message input output form page screen store provider format regex pattern env'
  ).split(' '),
)
/** Before `tokens`: they are counted. */
const COUNTED = new Set(
  'max min num number total prompt completion input output cached reasoning context used remaining of n'.split(' '),
)
/** Behind a word of `LAST`: still the value itself. */
const OF_VALUE = new Set(
  'value values text string str data raw base hash hashed encoded plain code old new current confirm confirmation again repeat'.split(
    ' ',
  ),
)

const kinds = new Map<string, SecretKind | null>()
const KINDS_KEPT = 4_096

/** `name` is the key as it is read, with its escapes undone. Null when its value is no secret by its name. */
export function secretKind(name: string): SecretKind | null {
  // Longer than any name; what it holds is looked at all the same.
  if (name.length > 128) return null
  let kind = kinds.get(name)
  if (kind === undefined) {
    if (kinds.size >= KINDS_KEPT) kinds.clear()
    kind = kindOf(name)
    kinds.set(name, kind)
  }
  return kind
}

function kindOf(name: string): SecretKind | null {
  // Characters that nobody sees part no words.
  const seen = name.replace(/\p{Cf}/gu, '')
  const parts = seen
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '')
  const last = parts.at(-1)
  if (last === undefined) return null
  // Capitals in the middle of a word part it as well: `PaSsWoRd`.
  const joined = seen.toLowerCase().replace(/[^a-z]/g, '')
  const isAbout = parts.length > 1 && ABOUT.has(last)
  if (PHRASE.test(joined)) return isAbout ? null : 'phrase'
  const named = nameOf(parts, last)
  if (named !== null) return named
  if (isAbout && !/^session_?id$/.test(parts.slice(-2).join('_'))) return null
  if (LINE.test(joined) || CONNECTION.test(parts.join('_'))) return 'line'
  if (WORD.test(joined) || KEY_OF.test(parts.join('_')) || GLUED_KEY.test(joined) || TOKEN_OF.test(joined))
    return 'word'
  return null
}

function nameOf(parts: readonly string[], last: string): SecretKind | null {
  const at = parts.length > 1 && OF_VALUE.has(last) ? parts.length - 2 : parts.length - 1
  const word = parts[at] ?? ''
  const kind = Object.hasOwn(LAST, word) ? LAST[word] : undefined
  if (kind === undefined) return null
  return kind === 'words' && COUNTED.has(parts[at - 1] ?? '') ? null : kind
}

/** `--password`, `--api-key`, `-storepass` and the like: what follows is the secret. */
export function isSecretFlag(text: string): boolean {
  return /^--?\w[^\s=]*$/.test(text) && secretKind(text) !== null
}
