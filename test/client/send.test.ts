// send: paste as the child asked for it, see it taken, Enter as a key of its own, then wait.
import { expect, test } from 'vitest'
import { encodeEnter, encodeKey, encodePaste } from '../../src/client/keystrokes.ts'
import { openConnection } from '../../src/client/connection.ts'
import { type SendOptions, sendText } from '../../src/client/send.ts'
import { encodeAck, encodeExit, encodeFrame, encodeJson } from '../../src/wire/encode.ts'
import type { Info } from '../../src/wire/payloads.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { infoWith, scriptedSession, type ScriptedSession } from './scripted-session.ts'

const output = (text: string): Buffer => encodeFrame('output', Buffer.from(text))

function state(name: Info['state'], needsInput = false): Buffer {
  return encodeJson('state', {
    state: name,
    state_ms: 0,
    needs_input: { value: needsInput, source: 'osc', evidence: null },
    cols: 80,
    rows: 24,
    title: '',
  })
}

/** A session that takes all input at once and does what `react` says. */
function taking(modes: Info['modes'], react: (typed: string) => Buffer = output): Promise<ScriptedSession> {
  let taken = 0
  return scriptedSession(({ name, payload }) => {
    if (name === 'info') return infoWith({ modes })
    if (name !== 'input') return undefined
    taken += payload.length
    return Buffer.concat([encodeAck(taken), react(payload.toString())])
  })
}

const sendTo = async (socketPath: string, text: string, options: SendOptions = {}) =>
  await sendText(await openConnection(socketPath, options.clock && { clock: options.clock }), text, options)

const typed = (session: ScriptedSession): string[] =>
  session.received.filter(({ name }) => name === 'input').map(({ payload }) => payload.toString())

test('a child that asked for bracketed paste gets one, and Enter comes in a frame of its own', async () => {
  const session = await taking({ bracketed_paste: true })
  const sent = await sendTo(session.socketPath, 'one\ntwo', { keys: ['enter'] })
  expect(typed(session)).toEqual(['\u001b[200~one\rtwo\u001b[201~', '\r'])
  expect(sent).toMatchObject({ writtenBytes: 20, isBracketed: true, reacted: true, state: null })
})

test('other children get the bytes that typing gives', async () => {
  const session = await taking({})
  const sent = await sendTo(session.socketPath, 'ls\r\npwd', {})
  expect(typed(session)).toEqual(['ls\rpwd'])
  expect(sent.isBracketed).toBe(false)
})

test('a text that would end the paste is refused before a byte is sent', async () => {
  const session = await taking({ bracketed_paste: true })
  await expect(sendTo(session.socketPath, 'x\u001b[201~rm -rf', {})).rejects.toMatchObject({ code: 'SEND_UNSAFE' })
  expect(typed(session)).toEqual([])
})

test('a terminal that takes only part of a text is reported, with how much it took', async () => {
  const clock = fakeClock()
  const session = await scriptedSession(({ name }) =>
    name === 'info' ? infoWith({}) : name === 'input' ? encodeAck(4) : undefined,
  )
  const sending = sendTo(session.socketPath, '0123456789', { clock })
  const refusal = expect(sending).rejects.toMatchObject({
    code: 'SESSION_SILENT',
    message: expect.stringContaining('4 of 10 bytes') as string,
  })
  await session.frame('input')
  while (clock.pending() === 0) await clock.advanceAsync(0)
  await clock.advanceAsync(10_000)
  await refusal
})

test('what the session refuses, and its end, are errors', async () => {
  const refusing = await scriptedSession(({ name }) =>
    name === 'info'
      ? infoWith({})
      : name === 'input'
        ? encodeJson('error', { code: 'SESSION_READ_ONLY', message: 'this connection may not type' })
        : undefined,
  )
  await expect(sendTo(refusing.socketPath, 'x')).rejects.toMatchObject({
    code: 'SESSION_REFUSED',
    details: { refusal: 'SESSION_READ_ONLY' },
  })
  const ending = await scriptedSession(({ name }) =>
    name === 'info' ? infoWith({}) : name === 'input' ? encodeExit(3) : undefined,
  )
  await expect(sendTo(ending.socketPath, 'x')).rejects.toMatchObject({ code: 'SESSION_ENDED' })
})

test('--wait-for idle is met by becoming idle, not by having been idle before', async () => {
  const session = await taking({}, (text) =>
    text === '\r' ? Buffer.concat([state('active'), output('working'), state('idle')]) : output(text),
  )
  const sent = await sendTo(session.socketPath, 'go', { keys: ['enter'], waitFor: 'idle' })
  expect(sent).toMatchObject({ state: 'idle', needsInput: false })
})

test('--wait-for needs-input is met by a state event that says so', async () => {
  const session = await taking({}, (text) =>
    text === '\r' ? Buffer.concat([state('active'), state('idle', true)]) : output(text),
  )
  const sent = await sendTo(session.socketPath, 'go', { keys: ['enter'], waitFor: 'needs-input' })
  expect(sent.needsInput).toBe(true)
})

test('Enter under the kitty keyboard protocol', () => {
  expect(encodeEnter({})).toBe('\r')
  expect(encodeEnter({ keyboard_flags: 1 })).toBe('\r')
  expect(encodeEnter({ keyboard_flags: 9 })).toBe('\u001b[13u')
  expect(encodeEnter({ keyboard_flags: 11 })).toBe('\u001b[13u\u001b[13;1:3u')
})

test('keys by name', () => {
  expect(encodeKey('ctrl-c', {})).toBe('\u0003')
  expect(encodeKey('ctrl-\\', {})).toBe('\u001c')
  expect(encodeKey('up', {})).toBe('\u001b[A')
  expect(encodeKey('up', { application_cursor: true })).toBe('\u001bOA')
  expect(encodeKey('escape', {})).toBe('\u001b')
  expect(() => encodeKey('entr', {})).toThrow(expect.objectContaining({ hint: 'did you mean enter?' }) as Error)
  expect(() => encodeKey('__proto__', {})).toThrow(/unknown key/)
  expect(encodePaste('', { bracketed_paste: true }).bytes).toHaveLength(0)
})
