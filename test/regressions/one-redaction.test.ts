// One redaction for everything that is said of a call: message, error.data, events and hints (seed 004 §4.1, §6.4).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle, checkBooks, deny, ofType, startShim, tool } from '../support/shim-client.ts'

/** Secrets in the forms in which agents hand them over; each holds the word hunter, which may come out nowhere. */
const FORMS: readonly object[] = [
  { pwd: 'hunter-one' },
  { pass: 'hunter two' },
  { env: { DB_PASS: 'hunter', HOME: '/home/ana' } },
  { private_key: 'hunter four' },
  { headers: { Cookie: 'sid=hunter' } },
  { credential: { user: 'ana', values: ['hunter', { deep: 'hunter' }] } },
  { auth: ['hunter'] },
  { text: 'key sk_live_hunter0123 and hf_hunter0123456 and ya29.hunter01 and SG.hunter01.hunter and dop_v1_hunter012' },
  { command: 'mysql --password hunter' },
  { args: ['--password', 'hunter'] },
  { command: 'curl -u ana:hunter https://example.test' },
  { args: ['-u', 'ana:hunter'] },
  { body: JSON.stringify({ auth: { code: 'hunter' } }) },
]

const POLICY = bundle([
  deny('no-force', tool('push'), {
    action: 'REJECT_WITH_HINT',
    message: 'the token=hunter-in-the-policy is not for you',
    hint: { hint_text: 'log in with password: hunter', suggested_args: { force: false } },
  }),
])

test('secrets in common forms come out nowhere, and a suggestion is never one to send a mark', async () => {
  const shim = startShim({ policy: POLICY })
  const answers = []
  for (const args of FORMS) {
    answers.push(await shim.call('push', { ...args, force: true }))
    await shim.call('echo', args)
  }
  // The same key and value behind escapes, and a tool that is called like a secret.
  shim.send(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"push","arguments":{"pass\\u0077ord":"h\\u0075nter","t":"\\u0073k-hunter0123"}}}',
  )
  answers.push(await shim.answer(1))
  await shim.call('sk-hunter012345')
  const { events, stderr } = await shim.end()
  // What the server itself sends back goes through as it came; only what we say is looked at.
  expect(JSON.stringify(answers)).not.toContain('hunter')
  expect(stderr).not.toMatch(/hunter|h\\+u0075nter/)
  for (const { error } of answers) {
    const { hint, summary } = error.data.subluminal
    expect(JSON.stringify(hint.suggested_args)).not.toContain('REDACTED')
    expect(hint.suggested_args).toBe(null)
    expect(error.message).toContain(summary)
    expect(error.message).toContain('{"force":false}')
  }
  const [decision] = ofType(events, 'tool_call_decision')
  const [first] = answers
  expect(decision?.['decision'].explain.summary).toBe(first?.['error'].data.subluminal.summary)
  expect(decision?.['decision'].hint).toEqual(first?.['error'].data.subluminal.hint)
  expect(ofType(events, 'hint_issued')[0]?.['hint']).toEqual(first?.['error'].data.subluminal.hint)
  expect(ofType(events, 'tool_call_end')[0]?.['error'].message).toBe(first?.['error'].data.subluminal.summary)
  expect(ofType(events, 'tool_call_start').at(-1)?.['call'].tool_name).toBe('[REDACTED]')
  expect(checkBooks(events)).toEqual([])
})

test('arguments without a secret are suggested whole', async () => {
  const shim = startShim({ policy: POLICY })
  const { error } = await shim.call('push', { branch: 'main', force: true })
  expect(error.data.subluminal.hint.suggested_args).toEqual({ branch: 'main', force: false })
  await shim.end()
})

test('the record on disk has none of it either', async () => {
  const shim = startShim({ policy: POLICY, bin: 'heimdall', env: { SUB_RUN_ID: 'run-1' } })
  for (const args of FORMS) await shim.call('push', { ...args, force: true })
  await shim.end()
  const record = readFileSync(join(shim.home, '.local/state/heimdall/runs/run-1/events.jsonl'), 'utf8')
  expect(record).toContain('tool_call_end')
  expect(record).not.toContain('hunter')
})
