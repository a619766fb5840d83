// What a terminal sends, split: keys and mouse by name, and every byte of it in order.
import { expect, test } from 'vitest'
import { keysOf, ViewKeys } from './view-keys.ts'

const acts = (text: string): unknown[] =>
  new ViewKeys().read(Buffer.from(text)).flatMap(({ act, bytes, isText }) => act ?? (isText ? keysOf(bytes) : []))

test.each([
  ['\u001b[5;2~', 'shift-page-up'],
  ['\u001b[5;2:1~', 'shift-page-up'],
  ['\u001b[5;66~', 'shift-page-up'],
  ['\u001b[6~', 'page-down'],
  ['\u001b[A', 'up'],
  ['\u001bOA', 'up'],
  ['\u001b[1;1B', 'down'],
  ['\u001b[H', 'home'],
  ['\u001b', 'escape'],
  ['\u001b[27u', 'escape'],
  ['\u001b[27;1:1u', 'escape'],
  ['\r', 'enter'],
  ['\u001b[13u', 'enter'],
  ['\u007f', 'backspace'],
  ['/', '/'],
  ['\u001b[47u', '/'],
  ['\u001b[110;2u', 'N'],
  ['\u001b[99;5u', 'ctrl-c'],
  ['ü', 'ü'],
])('%j is %s', (text, name) => expect(acts(text)).toEqual([{ is: 'key', name }]))

test.each(['\u001b[5;2:3~', '\u001b[27;1:3u', '\u001b[1;1:3A', '\u001b[I', '\u001b[200~j/q\u001b[201~'])(
  '%j is no key',
  (text) => expect(acts(text)).toEqual([]),
)

test('the mouse: wheel, left button, cells from 0', () => {
  const reports = acts('\u001b[<64;1;1M\u001b[<65;3;4M\u001b[<0;10;5M\u001b[<32;11;5M\u001b[<0;11;5m\u001b[<2;1;1M')
  expect(reports).toMatchObject([
    { is: 'mouse', does: 'wheel-up', x: 0, y: 0 },
    { is: 'mouse', does: 'wheel-down', x: 2, y: 3 },
    { is: 'mouse', does: 'press', x: 9, y: 4 },
    { is: 'mouse', does: 'drag', x: 10, y: 4 },
    { is: 'mouse', does: 'release', x: 10, y: 4 },
    { is: 'mouse', does: 'other', x: 0, y: 0 },
  ])
})

test('no byte is lost or changed, however it is cut; a lone ESC is not held back', () => {
  const whole = Buffer.from(
    'ab\u001b[5;2~\u00ffü\u001b[<64;10;10M\u001b[200~x\u001b[5;2~\u001b[201~\u001bOA\u001b[97;5u\u001b',
  )
  for (let cut = 0; cut <= whole.length; cut += 1) {
    const keys = new ViewKeys()
    const pieces = [...keys.read(whole.subarray(0, cut)), ...keys.read(whole.subarray(cut))]
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(whole)).toBe(true)
  }
})
