// A glance at bytes before anybody looks closely: can there be a secret in them at all?
import { ISSUERS } from './issuers.ts'

/** Three letters that stand in every token, and in every other form that carries a secret; rare ones, so that few texts are suspected. */
const IN_VALUES = [
  ...ISSUERS.flatMap(({ glance }) => glance.split(' ')),
  ...'Dig ysq iad s-c :// ks. rd. dap am. ?si ?Si &si &Si ;si ;Si z-s z-S g-s g-S'.split(' '),
  ...'0 1 2 3 4 5 6 7 8 9 a b c d e f A B C D E F'.split(' ').map((digit) => `\\u${digit}`),
]
/** And in every word that says so of the value beside it, in any letter case. */
const IN_WORDS =
  'rer pas pwd ecr oke iva ede uth kie jwt otp pin dsn sic _ke -ke pik ssk ntk ngk onk shk n_i n-i nid n_s n-s'
    .split(' ')
    .flatMap(inAnyCase)
/** Where only a capital parts two words. */
const IN_NAMES = ['Key', 'nSt', 'nId']
/** A flag with a name and a password behind it. */
const IN_FLAGS = [' -u', '"-u', "'-u", 'n-u', 'r-u', 't-u', '--u']
const IN_SECRETS = [...IN_VALUES, ...IN_WORDS, ...IN_NAMES, ...IN_FLAGS]

const ASCII_END = 0x80

/** Knows ASCII only: whoever meets another byte has to look closely anyway. */
class Suspects {
  /** By the last two of three letters, `first * 128 + second`: which row of `firsts` is theirs; 0 where no three end so. */
  readonly pairs = new Uint16Array(ASCII_END * ASCII_END)
  /** By row and letter: 1 when that letter before the two makes one of the threes. */
  readonly firsts: Uint8Array

  constructor() {
    const threes = IN_SECRETS.map((text) => Buffer.from(text))
    let rows = 0
    for (const [, b = 0, c = 0] of threes) this.pairs[b * ASCII_END + c] ||= rows += 1
    this.firsts = new Uint8Array((rows + 1) * ASCII_END)
    for (const [a = 0, b = 0, c = 0] of threes)
      this.firsts[(this.pairs[b * ASCII_END + c] as number) * ASCII_END + a] = 1
  }
}

let made: Suspects | undefined

/** Made when the first text is looked at: whoever writes none of somebody else's need not wait for it. */
export const suspects = (): Suspects => (made ??= new Suspects())

function inAnyCase(text: string): readonly string[] {
  return text
    .split('')
    .reduce<string[]>((forms, char) => forms.flatMap((form) => [form + char, form + char.toUpperCase()]), [''])
}
