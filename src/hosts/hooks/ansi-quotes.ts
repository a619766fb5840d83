// What bash makes of `$'…'`.

const NAMED: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c([^])|([^]))/g

/** `text`: between the quotes. */
export const ansiText = (text: string): string =>
  text.replaceAll(
    ESCAPE,
    (_, octal?: string, hex?: string, short?: string, long?: string, control?: string, other = '') => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
      const code = hex ?? short ?? long
      if (code !== undefined) return fromCodePoint(Number.parseInt(code, 16))
      if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f)
      return NAMED[other] ?? other
    },
  )

const fromCodePoint = (code: number): string => (code > 0x10_ff_ff ? '' : String.fromCodePoint(code))
