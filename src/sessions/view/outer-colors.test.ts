// The terminal's answers about its colours are taken out of what is typed, however they are written and torn.
import { expect, test } from 'vitest'
import { OuterColors } from './outer-abilities.ts'

const ANSWERS = '\u001b]10;rgb:ffff/8080/0000\u001b\\\u001b]11;rgb:1/2/f\u0007'
const COLORS = { foreground: '#ff8000', background: '#1122ff' }

test('whole, with keys around them', () => {
  const outer = new OuterColors()
  expect(outer.take(Buffer.from(`ab${ANSWERS}\u001b[A`)).toString()).toBe('ab\u001b[A')
  expect(outer.colors).toEqual(COLORS)
})

test('torn anywhere but behind the ESC that could be the key', () => {
  const text = `ab${ANSWERS}cd`
  const starts = [...text.matchAll(/\u001b\]/g)].map(({ index }) => index + 1)
  for (let cut = 1; cut < text.length; cut += 1) {
    if (starts.includes(cut)) continue
    const outer = new OuterColors()
    const typed = [text.slice(0, cut), text.slice(cut)].map((part) => outer.take(Buffer.from(part)).toString())
    expect(typed.join(''), `cut at ${cut}`).toBe('abcd')
    expect(outer.colors).toEqual(COLORS)
  }
})

test.each(['\u001b', '\u001b[1;5A', '\u001b]52;c;aGk=\u0007', 'é\u001bO', '\u001b]4;1;rgb:0/0/0\u0007'])(
  '%j is passed on as it is, at once',
  (typed) => {
    const outer = new OuterColors()
    expect(outer.take(Buffer.from(typed)).toString()).toBe(typed)
    expect(outer.colors).toBeUndefined()
  },
)
