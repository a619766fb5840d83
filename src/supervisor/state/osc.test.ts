// Terminal commands that tell about a program: found in any chunking, read for what they say.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OscScanner } from './osc.ts'
import { readSignal } from './osc-signals.ts'

function scan(chunks: readonly Buffer[]): [number, string][] {
  const found: [number, string][] = []
  const scanner = new OscScanner((code, text) => found.push([code, text]))
  for (const chunk of chunks) scanner.scan(chunk)
  return found
}

const SAMPLE = Buffer.from(
  'a\x1b]9;hello\x07b\x1b]777;notify;T;B\x1b\\\x1b[1mc\x1b]133;A\x07\x1b]0;é\x07\x1b]52;c;QUJD\x07',
)
const EXPECTED = [
  [9, 'hello'],
  [777, 'notify;T;B'],
  [133, 'A'],
  [0, 'é'],
  [52, 'c;QUJD'],
]

test('commands are found whole, byte by byte and in any pieces', () => {
  expect(scan([SAMPLE])).toEqual(EXPECTED)
  expect(scan([...SAMPLE].map((byte) => Buffer.of(byte)))).toEqual(EXPECTED)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: SAMPLE.length - 1 }), { maxLength: 8 }), (cuts) => {
      const at = [0, ...new Set(cuts), SAMPLE.length].sort((a, b) => a - b)
      expect(scan(at.slice(1).map((end, i) => SAMPLE.subarray(at[i], end)))).toEqual(EXPECTED)
    }),
  )
})

test('a command without an end costs bounded memory and hides nothing that follows', () => {
  const long = Buffer.from(`\x1b]52;c;${'A'.repeat(100_000)}`)
  expect(scan([long, Buffer.from('\x07\x1b]9;after\x07')])).toEqual([[9, 'after']])
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 })),
      (chunks) => void scan(chunks.map((chunk) => Buffer.from(chunk))),
    ),
  )
})

const TITLE_ASKS = 'title: Action Required | job'

test.each([
  [9, 'Claude needs your permission', { is: 'asking', evidence: 'OSC 9: Claude needs your permission' }],
  [9, '4;1;30', { is: 'working', evidence: 'OSC 9;4: progress' }],
  [9, '4;0', { is: 'silent' }],
  [9, '9;/home', undefined],
  [99, 'i=1:p=body;done?', { is: 'asking', evidence: 'OSC 99: done?' }],
  [99, 'e=1;aGk=', { is: 'asking', evidence: 'OSC 99: hi' }],
  [99, 'p=?;', undefined],
  [777, 'notify;Title;Body', { is: 'asking', evidence: 'OSC 777: Title: Body' }],
  [777, 'precmd', undefined],
  [133, 'A', { is: 'asking', evidence: 'OSC 133: shell prompt' }],
  [133, 'C;x', { is: 'working', evidence: 'OSC 133: command running' }],
  [133, 'D;0', undefined],
  [
    7501,
    'state=blocked:kind=permission:msg=Q29udGludWU/',
    { is: 'status', part: '', state: 'blocked', evidence: 'OSC 7501: permission: Continue?' },
  ],
  [7501, 'state=working:progress=3', { is: 'status', part: '', state: 'working', evidence: 'OSC 7501: working' }],
  [7501, 'state=done', { is: 'status', part: '', state: 'other', evidence: '' }],
  [7501, 'state=working:id=sub', { is: 'status', part: 'sub', state: 'working', evidence: 'OSC 7501: working' }],
  [7501, '?', undefined],
  [2, 'a\u202e\u0007 title', { is: 'title', title: 'a title' }],
  [0, '[ ! ] Action Required | job', { is: 'title', title: '[ ! ] Action Required | job', asks: TITLE_ASKS }],
  [0, '[ . ] Action Required | job', { is: 'title', title: '[ . ] Action Required | job', asks: TITLE_ASKS }],
  [0, '✋ wait', { is: 'title', title: '✋ wait', asks: 'title: wait' }],
  [52, 'c;QUJD', undefined],
])('OSC %i %s', (code, text, expected) => expect(readSignal(code, text)).toEqual(expected))
