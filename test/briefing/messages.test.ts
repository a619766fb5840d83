// heimdall-validate as a command: one message, a retry, a stream.
import { expect, test } from 'vitest'
import { temporaryIsland } from './island.ts'

const message = (id: string): string =>
  JSON.stringify({ type: 'question', from: 'coder', msg_id: id, question: 'which port?' })

test('a stream gives one verdict for each line, in order; the last line needs no newline', async () => {
  const island = temporaryIsland()
  const lines = [message('m1'), '', '{"type":', message('m2'), `{"a":"${'x'.repeat(70_000)}"}`, message('m3')]
  const { code, stdout } = await island.run('heimdall-validate', ['--stream'], { stdin: lines.join('\n') })
  const verdicts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { valid: boolean; errors: string[] })
  expect(verdicts.map(({ valid }) => valid)).toEqual([true, false, true, false, true])
  expect(verdicts[3]?.errors).toEqual([expect.stringContaining('more than 65536 bytes')])
  expect(code).toBe(1)
  expect((await island.run('heimdall-validate', ['--stream'], { stdin: message('m1') })).code).toBe(0)
})

test('a stream of 20,000 messages is answered with 20,000 verdicts', async () => {
  const island = temporaryIsland()
  const stdin = Array.from({ length: 20_000 }, (_, i) => message(`m${i}`)).join('\n')
  const { code, stdout } = await island.run('heimdall-validate', ['--stream'], { stdin })
  expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: 20_001 })
})

test('on receipt, a single message without newline is accepted, and an empty stream is escalated', async () => {
  const island = temporaryIsland()
  await island.run('heimdall-protocol', ['init'])
  expect(await island.run('heimdall-validate', ['--on-receipt'], { stdin: message('m1') })).toMatchObject({
    code: 0,
    stdout: 'ACCEPTED\n',
  })
  expect(await island.run('heimdall-validate', ['--on-receipt'], { stdin: '\n\n' })).toMatchObject({
    code: 1,
    stdout: '',
  })
  expect(island.read('protocol.log')).toMatch(
    /\tvalidate\taccept\tm1\n.*\tvalidate\tescalate\tstream-end attempts=0\n$/,
  )
})

test.each([
  ['a key twice', '{"type":"question","from":"a","from":"b","msg_id":"m","question":"?"}', /duplicate key "from"/],
  ['two documents', `${message('a')}${message('b')}`, /more than one JSON document/],
  ['nothing', '', /unparseable JSON/],
  ['null', 'null', /must be a JSON object/],
  ['an array', `[${message('a')}]`, /must be a JSON object/],
  ['ten megabytes', `{"type":"${'x'.repeat(10 << 20)}"}`, /more than 65536 bytes/],
])('%s is refused with a reason', async (_, stdin, reason) => {
  const { code, stdout } = await temporaryIsland().run('heimdall-validate', [], { stdin })
  const verdict = JSON.parse(stdout) as { valid: boolean; errors: string[] }
  expect({ code, valid: verdict.valid, errors: verdict.errors }).toEqual({
    code: 1,
    valid: false,
    errors: [expect.stringMatching(reason)],
  })
})

test('a message cannot forge a row of the log', async () => {
  const island = temporaryIsland()
  await island.run('heimdall-protocol', ['init'])
  await island.run('heimdall-validate', [], {
    stdin: '{"type":"x\\n2026-01-01T00:00:00Z\\tvalidate\\taccept\\tforged"}',
  })
  const rows = island.read('protocol.log').trimEnd().split('\n')
  expect(rows).toHaveLength(2)
  expect(rows.every((row) => row.split('\t').length === 4)).toBe(true)
})
