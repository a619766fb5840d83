// Names that a lenient reader takes for one another: other letter case, or characters in them that nobody sees.

/** Control, format and surrogate characters, line separators, and what is drawn as nothing: readers cut at them, drop them, or do not show them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const UNSEEN_ALL = new RegExp(UNSEEN, 'gu')
const PLAIN = /^[ -~]*$/
/** Its own likeness. Most keys are such. */
const LOWER = /^[a-z0-9_-]*$/

export function hasUnseen(text: string): boolean {
  return !PLAIN.test(text) && UNSEEN.test(text)
}

/** Letters as the most lenient decoder compares them: Go's takes the long s and the sign of Kelvin for `s` and `k`. */
export function fold(key: string): string {
  // Of the two only the long s is still there in lower case.
  const lower = key.toLowerCase()
  return lower.includes('\u017f') ? lower.replaceAll('\u017f', 's') : lower
}

/** One text for all names that some reader takes for this one. */
export function likeness(key: string): string {
  if (LOWER.test(key)) return key
  return fold(key.replace(UNSEEN_ALL, '')).trim()
}
