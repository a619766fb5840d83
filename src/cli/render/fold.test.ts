// Help for a narrow terminal.
import { expect, test } from 'vitest'
import { foldText } from './fold.ts'

test('what fits stays as it is; text is broken between words', () => {
  expect(foldText('one two\n  three', 10)).toBe('one two\n  three')
  expect(foldText('one two three four five', 10)).toBe('one two\nthree four\nfive')
  expect(foldText('  one two three', 10)).toBe('  one two\n    three')
})

test('what is said of a label goes on below its beginning, or below the label where that is too far right', () => {
  expect(foldText('  -h  show what it does', 16)).toBe('  -h  show what\n      it does')
  expect(foldText('  --scrollback N  kept for replay', 20)).toBe('  --scrollback N\n      kept for\n      replay')
})

test('a word that is longer than the line is not torn by us', () => {
  expect(foldText('see https://example.org/long there', 10)).toBe('see\nhttps://example.org/long\nthere')
})
