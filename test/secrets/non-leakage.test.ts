// Seed 004 §6.4: no injected secret, in whatever form, in anything that we write.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startWithSecrets } from '../support/bound-secrets.ts'
import { scaled } from '../support/scale.ts'
import { HARD_SECRETS, SECRET_FORMS, tells } from '../support/secret-forms.ts'
import { bundle, deny, type Json, ofType, rule, runsDir, tool } from '../support/shim-client.ts'
import { temporaryFolder } from '../support/project.ts'

const VALUE = 'hunter-of "quotes" & ☃'

/** A policy whose own words hold the secret. */
const wordy = bundle([
  deny('blocked', tool('blocked'), { message: `not with ${VALUE}` }),
  rule('hinted', 'deny', tool('hinted'), {
    action: 'REJECT_WITH_HINT',
    reason_code: 'HINTED',
    message: `refused because of ${VALUE}`,
    hint: {
      hint_text: `use ${encodeURIComponent(VALUE)} instead`,
      suggested_args: { token: VALUE },
      hint_kind: 'ARG_FIX',
    },
  }),
])

test('ERR-004: no secret in message, data, hint or events of a refusal', async () => {
  const shim = startWithSecrets([{ value: VALUE }], { policy: wordy })
  for (const name of ['blocked', 'hinted', `blocked${VALUE}`]) await shim.call(name, { token: VALUE })
  const blocked = await shim.call('blocked')
  expect(blocked['error'].message).toContain('not with [REDACTED]')
  const { events, stderr } = await shim.end()
  const answers = shim.program
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"error"'))
    .join('\n')
  for (const text of [answers, stderr, JSON.stringify(events)]) {
    expect(tells(text, VALUE, VALUE)).toBe(false)
    expect(text).not.toContain(encodeURIComponent(VALUE).slice(2, -2))
  }
})

test('SEC-INT-002: a secret in the text of a hint is taken out for the agent and for the record', async () => {
  const shim = startWithSecrets([{ value: VALUE }], { policy: wordy, bin: 'heimdall' })
  const answer = await shim.call('hinted')
  const { hint } = answer['error'].data.subluminal as Json
  expect(hint).toMatchObject({ hint_text: 'use [REDACTED] instead', suggested_args: null })
  const { events } = await shim.end()
  expect(ofType(events, 'hint_issued')[0]?.['hint'].hint_text).toBe('use [REDACTED] instead')
})

/** Everything below a folder, as one text. */
function writtenIn(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}

/** The command lines of a process and of all below it. */
function commandLinesOf(pid: number): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [readFileSync(`/proc/${pid}/cmdline`, 'utf8'), ...children.map(commandLinesOf)].join('\n')
}

const asks = rule('asks', 'deny', tool('asked*'), {
  action: 'ASK',
  reason_code: 'ASKED',
  message: 'may it?',
  ask: { wait_ms: 0 },
})

test('SEC-INT-001: in no form in an event, a store, a line on stderr, an answer of ours or a command line', async () => {
  const secrets = HARD_SECRETS.slice(0, scaled(1, 50))
  const home = temporaryFolder()
  const shim = startWithSecrets(
    secrets.map((value) => ({ value })),
    {
      policy: bundle([deny('no', tool('no*')), asks]),
      bin: 'heimdall',
      home,
      // Its command line is read.
      ownProcess: true,
      env: { SUB_RUN_ID: 'leaks' },
    },
  )
  const ours: Json[] = []
  const forms = secrets.flatMap((secret) =>
    Object.entries(SECRET_FORMS).map(([form, write]) => ({ form, secret, written: write(secret) })),
  )
  for (const { written } of forms) {
    const echoed = await shim.call('echo', { text: `say ${written}" and go on`, [written]: 1 })
    expect(JSON.parse(echoed['result'].content[0].text as string)).toEqual({
      text: `say ${written}" and go on`,
      [written]: 1,
    })
    await shim.call('fail', { message: `failed with ${written}!` })
    await shim.call('tell', { text: `told ${written}!`, cut: 7 + (written.length >> 1) })
    ours.push(await shim.call(`no ${written}`, { text: written }), await shim.call('no', { text: written }))
    ours.push(await shim.call(`asked ${written}`, { text: written }), await shim.call('asked', { text: written }))
  }
  const lines = commandLinesOf(shim.program.pid)
  const { stderr } = await shim.end()
  const texts = { record: writtenIn(runsDir(home)), stderr, ours: JSON.stringify(ours), lines }
  for (const { form, secret, written } of forms)
    for (const [where, text] of Object.entries(texts))
      expect(tells(text, secret, written), `${form} in ${where}: ${JSON.stringify([secret, written])}`).toBe(false)
  expect(texts.record.split('"secret_exposed"').length).toBeGreaterThan(forms.length)
  // The questions stand in the checkpoint as well.
  expect(texts.record).toMatch(/"args_preview":.*"answers":/)
  for (const reason of ['DENYLIST_MATCH', 'ASKED']) expect(texts.ours).toContain(reason)
})
