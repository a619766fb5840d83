import { expect, test } from 'vitest'
import { anchorsOf } from './invariants.ts'

test('anchors are made as code hosts make them', () => {
  const page = [
    '# Money is conserved',
    '## What `sum()` must be: zero!',
    '## [Order](x.md) of events ##',
    '## Größe_a-b',
    '## Rules',
    '## Rules',
    '```',
    '# not a heading',
    '```',
    '#hashtag',
    '    # indented code',
  ].join('\n')
  expect(anchorsOf(page)).toEqual([
    'money-is-conserved',
    'what-sum-must-be-zero',
    'order-of-events',
    'größe_a-b',
    'rules',
    'rules-1',
  ])
})
