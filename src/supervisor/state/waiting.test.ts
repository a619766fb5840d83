// What only may be a question: it counts while the program reads its terminal and nobody types there.
import { expect, test } from 'vitest'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import type { ScreenQuestion } from '../screen/terminal-questions.ts'
import { Waiting } from './waiting.ts'

const NAME: ScreenQuestion = { text: 'Enter your name:', isOpen: true, isGuess: true }

function waiting() {
  const clock = fakeClock()
  const shown: { question: ScreenQuestion | undefined; isReading: boolean; looks: number } = {
    question: NAME,
    isReading: false,
    looks: 0,
  }
  const state = new Waiting({
    clock,
    look: () => Promise.resolve(shown.question),
    isReading: () => {
      shown.looks += 1
      return shown.isReading
    },
    onChange: () => undefined,
  })
  return { state, shown, clock }
}

test('it waits where the program reads', () => {
  const { state, shown } = waiting()
  shown.isReading = true
  state.see(NAME)
  expect(state.needsInput).toEqual({ value: true, source: 'screen', evidence: 'Enter your name:' })
  state.see(undefined)
  expect(state.needsInput.value).toBe(false)
})

test('a program that works behind such a line waits for nobody, and is not looked at for ever', async () => {
  const { state, shown, clock } = waiting()
  state.see(NAME)
  await clock.advanceAsync(200_000)
  expect(state.needsInput.value).toBe(false)
  expect(shown.looks).toBe(9)
})

test('one that reads later is seen then', async () => {
  const { state, shown, clock } = waiting()
  state.see(NAME)
  shown.isReading = true
  await clock.advanceAsync(250)
  expect(state.needsInput).toMatchObject({ value: true, evidence: 'Enter your name:' })
})

test('a line that somebody types may end like a question; the next one is the program’s again', () => {
  const { state, shown } = waiting()
  const viewer = {}
  shown.isReading = true
  state.input(viewer, Buffer.from('Dear Ana:'))
  state.see({ ...NAME, text: 'Dear Ana:' })
  expect(state.needsInput.value).toBe(false)
  state.input(viewer, Buffer.from('\r'))
  state.see(NAME)
  expect(state.needsInput).toMatchObject({ value: true, evidence: 'Enter your name:' })
})
