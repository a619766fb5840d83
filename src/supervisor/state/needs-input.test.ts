// What counts, what answers, and what is raised again.
import { expect, test } from 'vitest'
import { NeedsInputState } from './needs-input.ts'

const asks = (evidence: string, source: string): object => ({ value: true, source, evidence })

test('the latest call counts before what stands, a status before a title, both before the screen', () => {
  const state = new NeedsInputState()
  expect(state.current).toEqual({ value: false, source: 'none', evidence: null })
  state.see({ text: 'Proceed? [y/N]', isOpen: true })
  expect(state.current).toEqual(asks('Proceed? [y/N]', 'screen'))
  state.title('title: Action Required')
  expect(state.current).toEqual(asks('title: Action Required', 'osc'))
  state.status('', 'blocked', 'OSC 7501: permission')
  expect(state.current).toEqual(asks('OSC 7501: permission', 'osc'))
  state.call('hook', 'permission for Bash')
  expect(state.current).toEqual(asks('permission for Bash', 'hook'))
  state.call('osc', 'OSC 9: come')
  expect(state.current).toEqual(asks('OSC 9: come', 'osc'))
})

test('the screen speaks beside a hook and a display of work, not against a program that says it works', () => {
  const state = new NeedsInputState()
  state.deny('hook', null)
  state.deny('osc', 'OSC 133: command running')
  state.see({ text: 'Password:', isOpen: true })
  expect(state.current).toEqual(asks('Password:', 'screen'))
  state.status('', 'working', 'OSC 7501: working')
  expect(state.current).toEqual({ value: false, source: 'osc', evidence: 'OSC 7501: working' })
  state.status('', 'other', '')
  expect(state.current).toEqual(asks('Password:', 'screen'))
})

test('an answer holds until the program has had time to react; what stands then asks again', () => {
  const state = new NeedsInputState()
  state.title('title: Action Required')
  state.answered()
  expect(state.current.value).toBe(false)
  state.settle()
  expect(state.current.value).toBe(true)
  state.answered()
  state.title(undefined)
  state.settle()
  expect(state.current.value).toBe(false)
})

test('a program that asks again is heard at once, however soon after an answer', () => {
  const state = new NeedsInputState()
  state.status('', 'blocked', 'OSC 7501: permission: one')
  state.answered()
  state.status('', 'working', 'OSC 7501: working')
  state.status('', 'blocked', 'OSC 7501: permission: two')
  expect(state.current).toEqual(asks('OSC 7501: permission: two', 'osc'))
})

test('a question that was answered and left on the screen is only text, until its words change or it is open again', () => {
  const state = new NeedsInputState()
  state.see({ text: 'Proceed? [y/N]', isOpen: true })
  state.answered()
  state.see({ text: 'Proceed? [y/N] y', isOpen: false })
  state.settle()
  expect(state.current.value).toBe(false)
  state.see({ text: 'Proceed? [y/N]', isOpen: true })
  expect(state.current.value).toBe(true)
})

test('a call is over when the question that it called for has left the screen', () => {
  const state = new NeedsInputState()
  state.call('hook', 'permission for Bash')
  state.see(undefined)
  expect(state.current.value).toBe(true)
  state.see({ text: 'Do you want to proceed?', isOpen: true })
  state.see(undefined)
  expect(state.current.value).toBe(false)
})

test('parts of a program wait under their own names', () => {
  const state = new NeedsInputState()
  state.status('', 'working', 'OSC 7501: working')
  state.status('worker', 'blocked', 'OSC 7501: permission')
  expect(state.current.value).toBe(true)
  state.status('worker', 'working', '')
  expect(state.current.value).toBe(false)
})

test('a question that is taken back says nothing of what the program does, and is no other question', () => {
  const state = new NeedsInputState()
  state.call('hook', 'May it write?')
  state.takeBack('May it write?')
  expect(state.current).toEqual({ value: false, source: 'none', evidence: null })
  state.call('hook', 'permission for Bash')
  state.takeBack('May it write?')
  expect(state.current).toEqual(asks('permission for Bash', 'hook'))
})
