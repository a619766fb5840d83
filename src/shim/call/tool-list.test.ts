// What a tool's hash depends on: everything that its server says, and nothing of how it is written down.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { readToolList } from './tool-list.ts'

function hashes(text: string): Record<string, string> {
  const list = readToolList(Buffer.from(text))
  if (list === null || list === 'unreadable') return {}
  return Object.fromEntries(list.tools.map(({ name, hash }) => [name, hash]))
}

/** The same value written in another way: keys in another order, white space, escapes. */
function otherwise(value: unknown, random: () => number): string {
  const space = (): string => [' ', '\t', '', '', ' '][Math.floor(random() * 5)] ?? ''
  const text = (said: string): string =>
    JSON.stringify(said).replaceAll(/[a-z](?=[^"\\]*"$)/g, (c) =>
      random() < 0.2 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c,
    )
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => space() + otherwise(item, random)).join(',')}]`
  const members = Object.entries(value)
    .map((entry) => ({ entry, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ entry: [key, member] }) => `${space()}${text(key)}${space()}:${otherwise(member, random)}${space()}`)
  return `{${members.join(',')}}`
}

const toolsOf = fc.uniqueArray(
  fc.record({
    name: fc.string({ minLength: 1 }),
    description: fc.string({ unit: 'grapheme' }),
    inputSchema: fc.jsonValue({ maxDepth: 3 }),
    annotations: fc.jsonValue({ maxDepth: 1 }),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 6 },
)

test('order of tools and keys, white space and escapes are irrelevant', () => {
  fc.assert(
    fc.property(
      toolsOf,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      (tools, stream) => {
        const random = (): number => stream.next().value
        const shuffled = tools.map((tool) => ({ tool, at: random() })).sort((a, b) => a.at - b.at)
        const other = `{"_meta":{},"tools" : [${shuffled.map(({ tool }) => otherwise(tool, random)).join(' , ')}]}`
        expect(hashes(other)).toEqual(hashes(JSON.stringify({ tools })))
      },
    ),
    { numRuns: scaled(40, 5_000) },
  )
})

test('one character more in any text of a tool is another hash', () => {
  fc.assert(
    fc.property(toolsOf, fc.nat(), fc.string({ minLength: 1, maxLength: 2 }), (tools, at, more) => {
      const [first] = tools
      if (first === undefined) return
      const description = first.description.slice(0, at % 50) + more + first.description.slice(at % 50)
      const changed = { tools: [{ ...first, description }, ...tools.slice(1)] }
      const [before, after] = [hashes(JSON.stringify({ tools })), hashes(JSON.stringify(changed))]
      expect(after[first.name]).not.toBe(before[first.name])
      expect({ ...after, [first.name]: '' }).toEqual({ ...before, [first.name]: '' })
    }),
    { numRuns: scaled(40, 5_000) },
  )
})

test('what is no list is none', () => {
  for (const text of ['[]', '{}', '{"tools":{}}', '{"tools":null}', '"tools"'])
    expect(readToolList(Buffer.from(text)), text).toBeNull()
  expect(readToolList(Buffer.from('{"tools":[NaN]}'))).toBe('unreadable')
  expect(hashes('{"tools":[1,null,"x",[],{},{"name":7},{"description":"nameless"}]}')).toEqual({})
  expect(Object.keys(hashes('{"tools":[{"name":"__proto__"},{"name":"toString"}]}'))).toContain('toString')
})
