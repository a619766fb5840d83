import { expect, test } from 'vitest'
import type { Thumbnail } from '../contract.ts'
import { choicesOn } from './shown-choices.ts'

const screen = (text: string): Thumbnail['lines'] => text.split('\n').map((line) => [[line, 'plain']])
const labels = (text: string): string[] => choicesOn(screen(text)).map(({ key, label }) => `${key} ${label}`)

test('choices are read as the host has numbered them, in lines, in a row and in a frame', () => {
  expect(labels('Run it?\n❯ 1. Yes\n  2. Yes, and do not ask again\n  3. No, and tell it what to do (esc)\n')).toEqual([
    '1 Yes',
    '2 Yes, and do not ask again',
    '3 No, and tell it what to do (esc)',
  ])
  expect(labels('  1. Yes   2. Yes, and do not ask again   3. No, tell it what to do')).toEqual([
    '1 Yes',
    '2 Yes, and do not ask again',
    '3 No, tell it what to do',
  ])
  expect(labels('│ ❯ 1. Keep it          │\n│   2) Remove it now    │')).toEqual(['1 Keep it', '2 Remove it now'])
})

test('the last list counts, and what is no list is none', () => {
  expect(labels('1. read\n2. write\nWhich?\n  1. A\n  2. B')).toEqual(['1 A', '2 B'])
  expect(labels('1. a single one')).toEqual([])
  expect(labels('version 2. of it\nstep 3. done')).toEqual([])
  expect(labels('')).toEqual([])
})

test('a list above a prompt is answered with a line, one that is moved in with a key', () => {
  const isLine = (text: string): boolean[] => choicesOn(screen(text)).map((choice) => choice.isLine)
  expect(isLine('1) red\n2) blue\n#? ')).toEqual([true, true])
  expect(isLine('1. red\n2. blue\nChoose [1-2]: ')).toEqual([true, true])
  expect(isLine('Run it?\n❯ 1. Yes\n  2. No\n\nWhich:')).toEqual([false, false])
  expect(isLine('Run it?\n  1. Yes\n  2. No\n\nEsc to cancel')).toEqual([false, false])
})

test('a label is one short line without anything that hides or turns it', () => {
  const [first] = choicesOn(screen(`1. ${'long '.repeat(50)}\u202etxt\n2. no`))
  expect(first?.label).toHaveLength(60)
  expect(labels('1. a\u202eb\u200bc\n2. no')).toEqual(['1 a b c', '2 no'])
})
