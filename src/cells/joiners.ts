// ZWJ and ZWNJ, which cannot be seen: where they make one picture of several emoji or shape letters, and nowhere else.

const ZWNJ = '\u200c'
const ZWJ = '\u200d'

export const isJoiner = (char: string): boolean => char === ZWJ || char === ZWNJ

const PICTURE = /^\p{Extended_Pictographic}$/u
/** What may stand behind the picture that is joined: the choice of its look, the colour of its skin. */
const BEHIND_PICTURE = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u

const LETTER_OR_MARK = /^[\p{L}\p{M}]$/u

/** Scripts whose letters are shaped by their neighbours. In the others a joiner only makes two words look like one. */
const SHAPED = [
  /\p{scx=Arab}/u,
  /\p{scx=Syrc}/u,
  /\p{scx=Nkoo}/u,
  /\p{scx=Mong}/u,
  /\p{scx=Deva}/u,
  /\p{scx=Beng}/u,
  /\p{scx=Guru}/u,
  /\p{scx=Gujr}/u,
  /\p{scx=Orya}/u,
  /\p{scx=Taml}/u,
  /\p{scx=Telu}/u,
  /\p{scx=Knda}/u,
  /\p{scx=Mlym}/u,
  /\p{scx=Sinh}/u,
  /\p{scx=Mymr}/u,
  /\p{scx=Khmr}/u,
  /\p{scx=Tibt}/u,
]

/** Any number of joiners is held as two: more than one joins nothing. */
export const withJoiner = (tail: string, joiner: string): string => Array.from(tail).slice(0, 2).join('') + joiner

/** The joiner at the end of `tail`, a character and what was held back behind it, where it joins that to `after`. */
export function joinerBefore(after: string, tail: string): string {
  const [before = '', joiner = '', ...more] = tail
  if (joiner === '' || more.length > 0) return ''
  const isPicture = joiner === ZWJ && BEHIND_PICTURE.test(before) && PICTURE.test(after)
  return isPicture || areShaped(before, after) ? joiner : ''
}

function areShaped(before: string, after: string): boolean {
  if (!LETTER_OR_MARK.test(before) || !LETTER_OR_MARK.test(after)) return false
  return SHAPED.some((script) => script.test(before) && script.test(after))
}
